// Hashes to records. A stored value is believed only after it was looked at: keys get edited by
// hand and restored in part, and a wrong token breaks the fence.

import { CronfenceError } from '../../errors.ts'
import type { ScheduleRecord, TaskKind } from '../store.ts'
import { integerOf } from '../stored-row.ts'
import { FIELDS } from './redis-statements.ts'

/** What a script answers for one key: a word, and the values of FIELDS after it. */
export type Reply = readonly (string | null | undefined)[]

type Field = (typeof FIELDS)[number]

const KINDS: readonly (string | null)[] = ['cron', 'every', 'delay'] satisfies TaskKind[]

/** The record of `id` in a reply. Throws `STORE_DAMAGED_RECORD`. */
export function recordOf(reply: Reply, { key, id }: { key: string; id: string }): ScheduleRecord {
  const value = (field: Field): string | null => reply[1 + FIELDS.indexOf(field)] ?? null
  const wrong = (field: Field, allowed: string): CronfenceError => {
    const found = value(field) === null ? 'nothing' : JSON.stringify(value(field)).slice(0, 80)
    return damage(key, id, `${field} must be ${allowed}, found ${found}`)
  }
  const instant = (field: Field): number => {
    const number = integerOf(value(field))
    if (number === undefined) throw wrong(field, 'an integer within ±(2^53 - 1)')
    return number
  }
  const optional = (field: Field): number | null => (value(field) === '' ? null : instant(field))
  const token = (): number => {
    const number = integerOf(value('fencingToken'))
    if (number === undefined || number < 0) throw wrong('fencingToken', 'from 0 to 2^53 - 1')
    return number
  }

  if (reply[0] === 'type') throw damage(key, id, `it is a ${reply[1]}, and must be a hash`)
  if (reply[0] === 'bad' && value('deletedAt') !== null) {
    token()
    instant('deletedAt')
  }
  const [kind, spec, leaseOwner] = [value('kind'), value('spec'), value('leaseOwner')]
  if (!KINDS.includes(kind)) throw wrong('kind', `one of ${KINDS.join(', ')}`)
  if (!spec) throw wrong('spec', 'text')
  if (leaseOwner === null) throw wrong('leaseOwner', 'text, or empty')
  if (value('mark') === null) throw wrong('mark', 'text, or empty')
  const [leaseUntil, lastRunAt] = [optional('leaseUntil'), optional('lastRunAt')]
  if ((leaseUntil === null) !== (leaseOwner === '')) {
    throw damage(key, id, 'leaseOwner and leaseUntil: one is set and the other is not')
  }
  const record = {
    id,
    kind: kind as TaskKind,
    spec,
    nextRunAt: optional('nextRunAt'),
    ...(leaseUntil === null ? {} : { leaseOwner, leaseUntil }),
    fencingToken: token(),
    ...(lastRunAt === null ? {} : { lastRunAt }),
    updatedAt: instant('updatedAt'),
  }
  if (reply[0] === 'bad') throw damage(key, id, 'a number in it is not written as a plain integer')
  return Object.freeze(record)
}

/** The error for a key that cannot be read; `problem` says what is wrong with it. */
export function damage(key: string, id: string, problem: string): CronfenceError {
  return new CronfenceError(
    'STORE_DAMAGED_RECORD',
    `Key ${JSON.stringify(key)}: ${problem}. It is left as it is: ` +
      'repair it, or remove it, token and all, with DEL',
    { details: { key, id } },
  )
}
