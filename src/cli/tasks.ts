// `cronfence tasks`: looks after the durable tasks of a store, orphans included. It changes nothing
// but what it is told to forget or purge, and takes no claim.

import { systemClock } from '../clock.ts'
import { positiveMs } from '../duration.ts'
import { columns } from './columns.ts'
import { type Command, readArguments, type Streams, UsageError } from './command.ts'
import { printable } from './printable.ts'
import { type OpenStore, openStore, STORE_URLS } from './stores.ts'
import { utcIso } from './wall-clock.ts'

const OLDER_THAN_DEFAULT = '30d'

/** Within the text of an option. */
const LINE_BREAK = `\n${' '.repeat(20)}`

const OPTIONS = {
  store: { type: 'string' },
  json: { type: 'boolean' },
  'older-than': { type: 'string' },
} as const

type Values = { readonly json?: boolean; readonly 'older-than'?: string }

interface Action {
  readonly arguments: readonly string[]
  run(store: OpenStore, args: readonly string[], values: Values, streams: Streams): Promise<number>
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: { arguments: [], run: list },
  forget: { arguments: ['ID'], run: forget },
  purge: { arguments: [], run: purge },
}

/** `list`, `forget` and `purge` on one store. */
export const tasksCommand: Command = {
  synopsis: 'tasks list | forget ID | purge --store URL',
  summary: 'look at the durable tasks of a store, forget one, purge old tombstones',
  details: `  --store URL       ${STORE_URLS.replace(' or ', `,${LINE_BREAK}or `)}
  --json            list: one JSON object per line, ids exactly as stored
  --older-than D    purge: only tombstones older than D, 12h or 7d (default ${OLDER_THAN_DEFAULT})

Ids are shown with control characters as \\u{1b}. "forget" deletes the task but keeps its fencing
token, so that a later registration goes on from there; exit 1 when there is no such task. "purge"
removes the tokens of tasks that were deleted long ago.`,
  async run(args, streams) {
    const { values, positionals } = readArguments(args, OPTIONS)
    const [name = '', ...rest] = positionals
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (action === undefined) {
      const names = Object.keys(ACTIONS).join(', ')
      throw new UsageError(`tasks needs one of ${names}, not ${JSON.stringify(name)}`)
    }
    if (rest.length !== action.arguments.length) {
      const expected = action.arguments.join(' ') || 'no arguments'
      throw new UsageError(`tasks ${name} takes ${expected}, not ${rest.length} arguments`)
    }
    if (values.store === undefined) throw new UsageError(`--store is missing: ${STORE_URLS}`)
    const warnings: string[] = []
    const store = await openStore(values.store, (text) => warnings.push(text))
    try {
      await store.start()
      return await action.run(store, rest, values, streams)
    } finally {
      await store.stop()
      for (const text of warnings) await streams.err.write(`cronfence: ${printable(text)}\n`)
    }
  },
}

async function list(store: OpenStore, _: readonly string[], { json }: Values, { out }: Streams) {
  const records = await store.schedules().list()
  records.sort((a, b) => (a.nextRunAt ?? Infinity) - (b.nextRunAt ?? Infinity) || order(a.id, b.id))
  if (json) {
    await out.write(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    return 0
  }
  const rows = records.map(({ id, kind, spec, nextRunAt, fencingToken, ...rest }) => [
    printable(id),
    kind,
    printable(spec),
    nextRunAt === null ? '-' : utcIso(nextRunAt),
    // A slot that was handed back has a lease that ended before it.
    rest.leaseUntil === undefined || rest.leaseUntil <= (nextRunAt ?? -Infinity)
      ? '-'
      : utcIso(rest.leaseUntil),
    String(fencingToken),
  ])
  const head = ['ID', 'KIND', 'SPEC', 'NEXT RUN', 'LEASED UNTIL', 'TOKEN']
  const widths = head.map((_name, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)))
  const lines = [head, ...rows].map((row) =>
    columns(
      row.map((cell) => [cell]),
      widths,
    ),
  )
  await out.write(`${lines.join('\n')}\n`)
  return 0
}

async function forget(store: OpenStore, [id = '']: readonly string[], _: Values, streams: Streams) {
  const schedules = store.schedules()
  if ((await schedules.get(id)) === null) {
    await streams.err.write(`cronfence: no task has the id ${printable(JSON.stringify(id))}\n`)
    return 1
  }
  await schedules.delete(id)
  await streams.out.write(`forgot ${printable(id)}\n`)
  return 0
}

async function purge(store: OpenStore, _: readonly string[], values: Values, { out }: Streams) {
  const age = positiveMs(values['older-than'] ?? OLDER_THAN_DEFAULT, '--older-than')
  const purged = await store.purge(systemClock.now() - age)
  await out.write(`purged ${purged} tombstones\n`)
  return 0
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
