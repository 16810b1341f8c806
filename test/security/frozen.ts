// The engine, the scheduler, a store and descriptions in a process whose prototypes are frozen; run
// by pollution.test.ts. Our own modules are loaded once that is so; cronstrue, which describes, is
// loaded before, for it exports a `toString`.

import 'cronstrue/i18n.js'

const NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf', 'then'],
  ...['__defineGetter__', 'isPrototypeOf', 'toJSON', 'length', 'name'],
]

for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value: unknown = Reflect.get(globalThis, name)
  if (typeof value !== 'function' || !/^[A-Z]/.test(name)) continue
  if (typeof value.prototype === 'object' && value.prototype) Object.freeze(value.prototype)
  Object.freeze(value)
}

const { CronBatch, MemoryScheduleStore, parseCron, Scheduler } = await import('../../src/index.ts')
const { describe } = await import('../../src/describe.ts')
const { VirtualClock } = await import('../../src/testing/virtual-clock.ts')

const cron = parseCron('*/5 0-6 L * MON#1', { dialect: 'extended', timeZone: 'Europe/Madrid' })
if (cron.next(0) === null || describe(cron) === '') throw new Error('the engine has no answer')
const batch = new CronBatch()
const id = batch.add('0 9 * * *', { timeZone: 'America/Santiago' })
if (Number.isNaN(batch.next(Uint32Array.of(id), Float64Array.of(0))[0])) throw new Error('no run')
try {
  parseCron('61 * * * *')
  throw new Error('it is accepted')
} catch (error) {
  if ((error as Error).name !== 'CronSyntaxError') throw error
}

const clock = new VirtualClock('2026-03-02T10:00:00Z')
const scheduler = new Scheduler({ clock, store: new MemoryScheduleStore(), timeZone: 'UTC' })
const ran = new Set<string>()
for (const name of NAMES) {
  scheduler.schedule('* * * * *', { id: name, missed: 'catch-up' }, ({ taskId }) => {
    ran.add(taskId)
  })
}
await scheduler.start()
await clock.advance(61_000)
await scheduler.stop()
process.stdout.write(`${ran.size} names ran\n`)
