// Schedules as atoms of `@pumped-fn/lite`: entry `cronfence/lite`. The module is handed in, and
// what is used of it is described here, so there is no dependency on it.

import type { Backend, Cadence, CatchUp, Registration, TickOverlap, TickRun } from './contract.ts'
import { inProcess } from './in-process.ts'
import { checkedSpec } from './registration-spec.ts'

/** What is used of the module: enough to recognise it; its own types come out again. */
export interface LiteModule {
  tag(options: { label: string }): unknown
  readonly tags: { required(tag: never): unknown }
  atom(options: never): unknown
}

/** A schedule of a flow. */
export interface LiteSchedule {
  /** Default: the flow's own name. */
  readonly name?: string | undefined
  readonly cadence: Cadence
  /** Default `'skip'`. */
  readonly overlap?: TickOverlap | undefined
  /** Default `'skip'`. */
  readonly catchUp?: CatchUp | undefined
  readonly flow: { readonly name?: string | undefined }
  /** The flow's input, or a function that is called for it at each tick. */
  readonly input?: unknown
  readonly onError?: ((error: unknown, run: TickRun) => void) | undefined
  /** Called at each tick: tagged values for its context, one or a list, before the scope's. */
  readonly tags?: (() => unknown) | undefined
}

/**
 * What the module makes of an atom whose value is a `Registration`. Its own type for that cannot be
 * named from here; of the atom we know what it is made of, which is where a scope's `resolve` has
 * the type of the value from.
 */
export type ScheduleAtom<Module extends LiteModule> = ReturnType<Module['atom']> & {
  readonly factory: (context: unknown, deps: unknown) => Registration
}

/** What `liteScheduler` makes. */
export interface LiteScheduler<Module extends LiteModule> {
  /** Tags a scope with the backend its schedules are registered with. */
  readonly backend: ReturnType<Module['tag']>
  /** Tags the context of a tick with its `TickRun`. */
  readonly run: ReturnType<Module['tag']>
  /**
   * An atom whose value is the `Registration`; it is stopped when the scope is disposed.
   * @throws {TypeError} for a wrong schedule, such as one without a name
   */
  schedule(schedule: LiteSchedule): ScheduleAtom<Module>
  readonly inProcess: typeof inProcess
}

/** The contract's backends for `@pumped-fn/lite`: pass its module. */
export function liteScheduler<Module extends LiteModule>(lite: Module): LiteScheduler<Module> {
  const { tag, tags, atom } = lite as unknown as UsedModule
  const backend = tag<Backend>({ label: 'cronfence.backend' })
  const run = tag<TickRun>({ label: 'cronfence.run' })

  const schedule = (options: LiteSchedule): unknown => {
    const { name = options.flow?.name, cadence, overlap = 'skip', catchUp = 'skip' } = options
    const { flow, input, onError, tags: tagsOfTick } = options
    if (name === undefined) {
      throw new TypeError('schedule: give it a name, or a flow that has one')
    }
    if (Object(flow) !== flow) throw new TypeError(`flow: must be a flow, not ${String(flow)}`)
    if (tagsOfTick !== undefined && typeof tagsOfTick !== 'function') {
      throw new TypeError('tags: must be a function that gives the tags of a tick')
    }
    const spec = { name, cadence, overlap, catchUp, onError }
    const tickIn = (scope: UsedScope) => async (tickRun: TickRun) => {
      const tags = [run(tickRun), tagsOfTick?.() ?? []].flat(Infinity)
      const context = scope.createContext({ tags })
      await closing(context, async () => {
        await context.exec({ flow, input: typeof input === 'function' ? input(tickRun) : input })
      })
    }
    checkedSpec(spec, async () => {}, 0)
    return atom({
      keepAlive: true,
      deps: { backend: tags.required(backend) },
      factory: (context, deps) => {
        const registration = deps.backend.register(spec, tickIn(context.scope))
        context.cleanup(() => registration.stop())
        return registration
      },
    })
  }

  return { backend, run, schedule, inProcess } as unknown as LiteScheduler<Module>
}

interface UsedModule {
  tag<Value>(options: { label: string }): (value: Value) => unknown
  readonly tags: { required(tag: unknown): unknown }
  atom(options: {
    keepAlive: true
    deps: { backend: unknown }
    factory: (
      context: { scope: UsedScope; cleanup(action: () => Promise<void>): void },
      deps: { backend: Backend },
    ) => Registration
  }): unknown
}

interface UsedScope {
  createContext(options: { tags: readonly unknown[] }): UsedContext
}

interface UsedContext {
  exec(options: { flow: unknown; input: unknown }): Promise<unknown>
  close(result: { ok: true } | { ok: false; error: unknown }): Promise<void>
}

async function closing(context: UsedContext, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    try {
      await context.close({ ok: false, error })
    } catch {
      // The flow's own error is what counts.
    }
    throw error
  }
  await context.close({ ok: true })
}
