// Expression text to plain sets of numbers, for the slow second implementation: SPEC 1.1 and 1.2
// read literally. It says whether a text is refused, but not why or where.

/** What an expression selects, and the two facts about its text that change the meaning. */
export interface ReferenceExpression {
  readonly minute: readonly number[]
  readonly hour: readonly number[]
  readonly dayOfMonth: ReadonlySet<number>
  readonly month: ReadonlySet<number>
  readonly dayOfWeek: ReadonlySet<number>
  readonly isHourWildcard: boolean
  readonly isEitherDayStarred: boolean
}

/** The compiled expression, or `null` when the `standard` dialect refuses the text. */
export function readExpression(text: string): ReferenceExpression | null {
  const fields = text.replace(/^[ \t]+/, '').split(/[ \t]+/)
  if (fields.at(-1) === '') fields.pop()
  if (fields.length !== 5) return null
  const [minuteText, hourText, dayText, monthText, weekdayText] = fields as Five
  const minute = readField(minuteText, 0, 59)
  const hour = readField(hourText, 0, 23)
  const dayOfMonth = readField(dayText, 1, 31)
  const month = readField(monthText, 1, 12)
  const dayOfWeek = readField(weekdayText, 0, 7)
  if (!minute || !hour || !dayOfMonth || !month || !dayOfWeek) return null

  const isEitherDayStarred = dayText.startsWith('*') || weekdayText.startsWith('*')
  if (isEitherDayStarred && !hasAnyDate(month, dayOfMonth)) return null
  return {
    minute,
    hour,
    dayOfMonth: new Set(dayOfMonth),
    month: new Set(month),
    dayOfWeek: new Set(dayOfWeek.map((day) => day % 7)),
    isHourWildcard: hourText.startsWith('*'),
    isEitherDayStarred,
  }
}

/** Whether a date, given as days since 1970-01-01, is one of the expression's. */
export function matchesDay(expression: ReferenceExpression, day: number): boolean {
  const date = new Date(day * 86_400_000)
  if (!expression.month.has(date.getUTCMonth() + 1)) return false
  const inMonth = expression.dayOfMonth.has(date.getUTCDate())
  const inWeek = expression.dayOfWeek.has(date.getUTCDay())
  return expression.isEitherDayStarred ? inMonth && inWeek : inMonth || inWeek
}

type Five = [string, string, string, string, string]

/** The values of one field in ascending order, or `null` when the text is refused. */
function readField(text: string, min: number, max: number): number[] | null {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const match = /^(?:(\*)|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(item)
    if (!match) return null
    const [, star, first, last, stepText] = match
    if (!star && last === undefined && stepText !== undefined) return null
    const step = Number(stepText ?? 1)
    const from = star ? min : Number(first)
    const to = star ? max : Number(last ?? first)
    if (step === 0 || from < min || to > max || from > to) return null
    for (let value = from; value <= to; value += step) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

function hasAnyDate(months: number[], days: number[]): boolean {
  const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return months.some((month) => days.some((day) => day <= longest[month - 1]!))
}
