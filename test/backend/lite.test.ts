// Schedules as atoms, on a stand-in for the runtime: registration, contexts, tags, errors,
// disposal.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Backend, Registration, RegistrationSpec } from '../../src/backend/contract.ts'
import { type LiteSchedule, liteScheduler } from '../../src/backend/lite.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import * as lite from './lite-runtime.ts'
import { unhandledRejections } from './ticks.ts'

const BOOM = new Error('boom')
const { backend, run, schedule, inProcess } = liteScheduler(lite)
const tenant = lite.tag<string>({ label: 'tenant' })

let clock: VirtualClock
let scope: lite.Scope
let rejections: ReturnType<typeof unhandledRejections>

beforeEach(() => {
  clock = new VirtualClock('2026-01-01T00:00:00Z')
  scope = lite.createScope({ tags: [backend(inProcess({ clock }) as never), tenant('scope')] })
  rejections = unhandledRejections()
})

afterEach(async () => {
  await scope.dispose()
  rejections.stop()
  expect(rejections.found).toEqual([])
})

const report = lite.flow({ name: 'report', factory: () => {} })
const failing = lite.flow({ name: 'report', factory: () => Promise.reject(BOOM) })

const resolve = (change: Partial<LiteSchedule> = {}): Promise<Registration> =>
  scope.resolve(schedule({ cadence: { every: '1000' }, flow: report, ...change }))

describe('a schedule', () => {
  test('is a keepAlive atom, and its value the registration', async () => {
    expect(schedule({ cadence: { every: '1000' }, flow: report }).keepAlive).toBe(true)
    const registration = await resolve()
    expect(registration.next()).toEqual(new Date('2026-01-01T00:00:01Z'))
  })

  test('registers with the backend of its scope, with the defaults filled in', async () => {
    const register = vi.fn<Backend['register']>(() => ({
      trigger: async () => {},
      next: () => undefined,
      stop: async () => {},
    }))
    const other = lite.createScope({ tags: [backend({ register } as never)] })
    await other.resolve(schedule({ cadence: { every: '5' }, flow: report }))
    expect(register.mock.calls[0]?.[0]).toEqual({
      name: 'report',
      cadence: { every: '5' },
      overlap: 'skip',
      catchUp: 'skip',
    } satisfies RegistrationSpec)
  })

  test('is not resolved without a backend', async () => {
    const bare = lite.createScope()
    const wanted = bare.resolve(schedule({ cadence: { every: '5' }, flow: report }))
    await expect(wanted).rejects.toThrow('cronfence.backend')
  })

  test('has its own name before that of its flow', async () => {
    const keys: string[] = []
    const flow = lite.flow({
      name: 'report',
      deps: { tick: lite.tags.required(run) },
      factory: (_, { tick }: { tick: { key: string } }) => void keys.push(tick.key),
    })
    const registration = await resolve({ name: 'nightly', flow })
    await registration.trigger('a')
    expect(keys).toEqual(['run.nightly.manual.a'])
  })

  test.each([
    ['no name', { flow: lite.flow({ factory: () => {} }) }, /give it a name/],
    ['no flow', { flow: undefined }, /give it a name/],
    ['a name, but no flow', { name: 'a', flow: undefined }, /^flow: must be a flow, not undefined/],
    ['tags that are no function', { tags: [] }, /^tags: must be a function/],
    ['an empty name', { name: '' }, /^name: must not be empty/],
    ['a bad cadence', { cadence: { every: '5m' } }, /positive number of milliseconds/],
    ['an unknown overlap', { overlap: 'allow' }, /^overlap: must be one of/],
  ])('with %s is refused at once', (_, change, message) => {
    const wrong = { cadence: { every: '1000' }, flow: report, ...change } as LiteSchedule
    expect(() => schedule(wrong)).toThrow(message)
    expect(() => schedule(wrong)).toThrow(TypeError)
  })

  test('that catches up needs another backend than inProcess', async () => {
    await expect(resolve({ catchUp: 'all' })).rejects.toThrow('a durable backend')
  })
})

describe('a tick', () => {
  test('runs in a context of its own, which is closed as ok', async () => {
    await resolve()
    await clock.advance(2000)
    expect(scope.contexts.map(({ closed }) => closed)).toEqual([{ ok: true }, { ok: true }])
  })

  test('sees the tags of the scope, its run, and its own tags first', async () => {
    const seen: unknown[] = []
    const flow = lite.flow({
      name: 'report',
      deps: { tenant: lite.tags.required(tenant), run: lite.tags.required(run) },
      factory: (_, deps) => void seen.push(deps),
    })
    await (await resolve({ flow })).trigger('a')
    await (await resolve({ flow, tags: () => [tenant('tick')] })).trigger('b')
    await (await resolve({ flow, tags: () => [[tenant('nested')]] })).trigger('c')
    await (await resolve({ flow, tags: () => tenant('single') })).trigger('d')
    const at = { scheduledAt: new Date(clock.now()) }
    expect(seen).toEqual([
      { tenant: 'scope', run: { key: 'run.report.manual.a', ...at } },
      { tenant: 'tick', run: { key: 'run.report.manual.b', ...at } },
      { tenant: 'nested', run: { key: 'run.report.manual.c', ...at } },
      { tenant: 'single', run: { key: 'run.report.manual.d', ...at } },
    ])
  })

  test.each([
    ['a value', { n: 1 }, [{ n: 1 }, { n: 1 }]],
    ['nothing', undefined, [undefined, undefined]],
  ])('has %s as its input', async (_, input, expected) => {
    const registration = await resolve({ input })
    await registration.trigger()
    await registration.trigger()
    expect(scope.contexts.map((context) => context.input)).toEqual(expected)
  })

  test('has as its input what a function gives, asked anew each time', async () => {
    let n = 0
    const registration = await resolve({ input: () => ({ n: n++ }) })
    await registration.trigger()
    await registration.trigger()
    expect(scope.contexts.map(({ input }) => input)).toEqual([{ n: 0 }, { n: 1 }])
  })

  test('that fails is closed with its error, and then rejects with it', async () => {
    const onError = vi.fn()
    const registration = await resolve({ flow: failing, onError })
    await expect(registration.trigger()).rejects.toBe(BOOM)
    expect(scope.contexts.map(({ closed }) => closed)).toEqual([{ ok: false, error: BOOM }])
    expect(onError).toHaveBeenCalledExactlyOnceWith(BOOM, expect.anything())
  })

  test('that fails and cannot be closed rejects with its own error', async () => {
    const flow = lite.flow({
      name: 'report',
      factory: (context) => {
        context.onClose(() => Promise.reject(new Error('close')))
        throw BOOM
      },
    })
    await expect((await resolve({ flow })).trigger()).rejects.toBe(BOOM)
  })

  test('that ran and cannot be closed has failed', async () => {
    const flow = lite.flow({
      name: 'report',
      factory: (context) => context.onClose(() => Promise.reject(BOOM)),
    })
    await expect((await resolve({ flow })).trigger()).rejects.toBe(BOOM)
    expect(scope.contexts).toHaveLength(1)
  })

  test('whose input or tags cannot be had has failed', async () => {
    const fail = () => {
      throw BOOM
    }
    await expect((await resolve({ tags: fail })).trigger()).rejects.toBe(BOOM)
    await expect((await resolve({ input: fail })).trigger()).rejects.toBe(BOOM)
    expect(scope.contexts.map(({ closed }) => closed)).toEqual([{ ok: false, error: BOOM }])
  })
})

describe('disposal of the scope', () => {
  test('stops the schedule, and waits for the tick that runs', async () => {
    let end = () => {}
    const flow = lite.flow({
      name: 'report',
      factory: () => new Promise<void>((resolve) => (end = resolve)),
    })
    const registration = await resolve({ flow })
    await clock.advance(1000)
    let isDisposed = false
    const disposed = scope.dispose().then(() => {
      isDisposed = true
    })
    await clock.advance(5000)
    expect([isDisposed, registration.next()]).toEqual([false, undefined])
    end()
    await disposed
    await clock.advance(5000)
    expect(scope.contexts.map(({ closed }) => closed)).toEqual([{ ok: true }])
  })
})
