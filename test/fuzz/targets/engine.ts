// The engine on rows that no store of ours would hand over, one beside a sound task: it says so,
// leaves the row alone, and is on time with the other. Input: as for rows, by the record's fields.

import { CronfenceError } from '../../../src/errors.ts'
import { Scheduler } from '../../../src/scheduler/scheduler.ts'
import { MemoryScheduleStore } from '../../../src/store/memory/memory-schedule-store.ts'
import type { ScheduleRecord } from '../../../src/store/store.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { isPlainLine, must, type Target } from '../target.ts'
import { readFields } from './rows.ts'

const START = Date.parse('2026-03-02T10:00:00Z')
const STEP_MS = 10_000
const STEPS = 9
/** Of one row: when it is registered, and each time it is looked at again. */
const EVENTS_MAX = 2 + Math.ceil((STEPS * STEP_MS) / 30_000)

/** Reading, claiming and committing of the scheduler. */
export const engine: Target = {
  words: [
    ...['nextRunAt=', 'leaseUntil=', 'leaseOwner=', 'fencingToken=', 'kind=', 'spec=', 'id='],
    ...['lastRunAt=', 'updatedAt=', 'null', 'undefined', 'NaN', 'Infinity', '-Infinity', '-0'],
    ...['9007199254740992', '8640000000000001', '12n', 'object', '1772445600000', '0.5'],
    ...["'10000", 'delay', 'cron', 'every', '__proto__='],
  ],
  seeds: [
    '',
    'nextRunAt=NaN',
    'nextRunAt=-8640000000000000',
    'fencingToken=9007199254740992',
    'leaseUntil=Infinity\nleaseOwner=x',
    'kind=delay\nspec=1',
    'nextRunAt=1772445600000\nfencingToken=-1',
    "id='other",
    'id=9',
    'nextRunAt=12n',
    'kind=d\u0001',
  ],
  async fuzz(text) {
    const fields = readFields(text)
    const clock = new VirtualClock(START)
    const store = new MemoryScheduleStore([
      {
        id: 'odd',
        kind: 'every',
        spec: String(STEP_MS),
        nextRunAt: START,
        fencingToken: 1,
        updatedAt: 0,
      },
    ])
    const writes: string[] = []
    const scheduler = new Scheduler({
      clock,
      store: odd(store, fields, writes),
      timeZone: 'UTC',
      logger: silent,
    })
    const slots: number[] = []
    const late: number[] = []
    let damages = 0
    scheduler.on('store-error', ({ error, taskIds }) => {
      must(
        taskIds.every((id) => id === 'odd'),
        'the sound task has an error',
      )
      if (error instanceof CronfenceError) damages++
    })
    scheduler.every(STEP_MS, { id: 'odd' }, () => {})
    scheduler.every(STEP_MS, { id: 'sound' }, ({ scheduledAt }) => {
      slots.push(scheduledAt.getTime())
      late.push(clock.now() - scheduledAt.getTime())
    })
    await scheduler.start()
    await clock.advance(STEPS * STEP_MS + 1000)
    const stopped = scheduler.stop()
    await clock.advance(15_000)
    await stopped

    must(slots.length === STEPS, `the sound task ran ${slots.length} of ${STEPS} slots`)
    must(
      late.every((ms) => ms <= 1000),
      'the sound task ran late',
    )
    must(damages <= EVENTS_MAX, `${damages} events about one row`)
    if (isImpossible(fields)) {
      must(damages > 0, 'an impossible row without an event')
      must(writes.length === 0, `an impossible row was changed by ${writes.join(', ')}`)
    }
  },
}

const silent = { warn: checkLine, error: checkLine }

function checkLine(line: string): void {
  // A logger that throws is not heard: what is wrong is told where it is.
  if (!isPlainLine(line.replaceAll('\n    at ', '')))
    queueMicrotask(() => must(false, 'a raw log line'))
}

/** What no engine wrote, whatever reads it. */
function isImpossible(fields: ReadonlyMap<string, unknown>): boolean {
  const isWrong = (name: string, isRight: (value: unknown) => boolean) =>
    fields.has(name) && !isRight(fields.get(name))
  return (
    isWrong('nextRunAt', (value) => value === null || isInstant(value)) ||
    isWrong('fencingToken', (value) => Number.isSafeInteger(value) && Number(value) >= 0) ||
    isWrong('leaseUntil', (value) => value === undefined || Number.isSafeInteger(value))
  )
}

function isInstant(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(Number(value)) <= 8.64e15
}

/** The store with these fields in each record of `odd` that it hands out. */
function odd(
  store: MemoryScheduleStore,
  fields: ReadonlyMap<string, unknown>,
  writes: string[],
): MemoryScheduleStore {
  const mangled = (record: ScheduleRecord | null): ScheduleRecord | null =>
    record?.id === 'odd'
      ? (Object.assign(Object.create(null), record, Object.fromEntries(fields)) as ScheduleRecord)
      : record
  const changed = (id: string, what: string) => {
    if (id === 'odd') writes.push(what)
  }
  return Object.assign(Object.create(store) as MemoryScheduleStore, {
    getMany: undefined,
    registerMany: undefined,
    claimDueMany: undefined,
    renewMany: undefined,
    completeMany: undefined,
    get: async (id: string) => mangled(await store.get(id)),
    register: async (...args: Parameters<MemoryScheduleStore['register']>) =>
      mangled(await store.register(...args)),
    claimDue: async (...args: Parameters<MemoryScheduleStore['claimDue']>) => {
      const claim = await store.claimDue(...args)
      return claim && { ...claim, record: mangled(claim.record) }
    },
    renew: (...args: Parameters<MemoryScheduleStore['renew']>) => store.renew(...args),
    complete: (...args: Parameters<MemoryScheduleStore['complete']>) => {
      changed(args[0], 'complete')
      return store.complete(...args)
    },
    delete: (...args: Parameters<MemoryScheduleStore['delete']>) => {
      changed(args[0], 'delete')
      return store.delete(...args)
    },
    list: async () => (await store.list()).map((record) => mangled(record)!),
  })
}
