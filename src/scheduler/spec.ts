// The stored text of a cron task. It holds all that decides its slots, so that two replicas that
// store the same text agree on them, and a change of any of it plans the task again.

/** What decides the slots of a cron task besides its text. */
export interface CronSetting {
  readonly timeZone?: string | undefined
  readonly dialect?: string | undefined
  readonly gap?: string | undefined
  readonly fold?: string | undefined
}

/**
 * The text, after what is set of `TZ=<zone> `, `DIALECT=<dialect> ` (unless standard),
 * `GAP=<policy> ` and `FOLD=<policy> `.
 */
export function cronSpec(text: string, { timeZone, dialect, gap, fold }: CronSetting): string {
  const prefix = (name: string, value: string | undefined) => (value ? `${name}=${value} ` : '')
  const zone = timeZone === 'local' ? undefined : timeZone
  const other = dialect === 'standard' ? undefined : dialect
  const head = prefix('TZ', zone) + prefix('DIALECT', other)
  return head + prefix('GAP', gap) + prefix('FOLD', fold) + text.trim()
}
