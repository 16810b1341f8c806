// A store between the scheduler and the real one that loses requests and replies as a test asks.

import { CronfenceError } from '../../src/errors.ts'

/**
 * `refused`: surely not sent. `dropped`: not sent, but who knows. `unanswered`: carried out.
 * `silent`: carried out, and the call never ends. `doubled`: carried out twice, answered once.
 * `damaged`: not done, because of one row.
 */
export type Fault = 'refused' | 'dropped' | 'unanswered' | 'silent' | 'doubled' | 'damaged'

/** Counts calls and injects faults: of a store, or of whatever has asynchronous methods only. */
export class FaultyStore<Inner extends object> {
  readonly calls = new Map<string, number>()
  /** Asked before each call. */
  fault: (method: string, call: number, args: readonly unknown[]) => Fault | undefined = () =>
    undefined

  readonly proxy: Inner

  /** With `single` it has no batch methods. */
  constructor(inner: Inner, { single = false }: { single?: boolean } = {}) {
    this.proxy = new Proxy(inner, {
      get: (target, name: string) => {
        if (single && name.endsWith('Many')) return undefined
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => this.#call(name, args, () => method.apply(target, args))
      },
    })
  }

  count(method: string): number {
    return this.calls.get(method) ?? 0
  }

  async #call(
    name: string,
    args: readonly unknown[],
    carryOut: () => Promise<unknown>,
  ): Promise<unknown> {
    const call = this.count(name) + 1
    this.calls.set(name, call)
    const fault = this.fault(name, call, args)
    if (fault === undefined) return carryOut()
    if (fault === 'damaged') throw new CronfenceError('STORE_DAMAGED_RECORD', 'cannot be read')
    if (fault !== 'refused' && fault !== 'dropped') await carryOut()
    if (fault === 'doubled') return carryOut()
    if (fault === 'silent') return new Promise(() => {})
    if (fault === 'refused') throw new CronfenceError('STORE_UNAVAILABLE', 'cannot be reached')
    throw new CronfenceError('STORE_OUTCOME_UNKNOWN', 'the reply was lost')
  }
}
