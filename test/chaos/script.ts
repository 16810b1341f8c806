// Writes logs by hand, for the tests of the checker.

import type { ClaimFact, Fact, RunFact, Step, Telling } from './facts.ts'

export const LEASE_MS = 600

type Claimed = readonly [slot: number, token: number]

/** The log of one task, line by line; lines that belong together are told together. */
export class Script {
  readonly facts: Fact[] = []
  #calls = 0

  tell(by: string, at: number, telling: Telling): this {
    this.facts.push({ by, at, ...telling })
    return this
  }

  registered(slot: number): this {
    return this.tell('a', 0, { what: 'registered', id: 't', slot })
  }

  /** A claim that is granted. */
  claim(by: string, at: number, what: Claimed, { takenOver = false } = {}): this {
    return this.attempt(by, at).granted(by, at, what, { takenOver })
  }

  /** A claim of which nothing more is heard. */
  attempt(by: string, at: number): this {
    this.#calls++
    return this.#claim(by, at, { step: 'sent' })
  }

  /** The answer to it. */
  granted(by: string, at: number, [slot, token]: Claimed, { takenOver = false } = {}): this {
    const grant = { slot, token, leaseUntil: at + LEASE_MS, takenOver }
    return this.#claim(by, at, { step: 'granted', grant })
  }

  /** The row shows it. */
  found(by: string, at: number, [slot, token]: Claimed): this {
    const grant = { slot, token, leaseUntil: at + LEASE_MS }
    return this.tell(by, at, { what: 'found', id: 't', owner: `${by}/${at}`, ...grant })
  }

  run(by: string, at: number, [slot, token]: Claimed, missed = false): this {
    return this.#ofRun('run', by, at, { slot, token, missed })
  }

  ran(by: string, at: number, [slot, token]: Claimed, missed = false): this {
    return this.#ofRun('ran', by, at, { slot, token, missed })
  }

  aborted(by: string, at: number, [slot, token]: Claimed): this {
    return this.#ofRun('aborted', by, at, { slot, token, missed: false })
  }

  commit(
    by: string,
    at: number,
    [token, nextRunAt]: readonly [number, number | null],
    step: Step = 'granted',
  ): this {
    const asked = { what: 'commit', id: 't', token, nextRunAt } as const
    return this.#ask(by, at, step, (known, call) => ({ ...asked, step: known, call }))
  }

  renew(
    by: string,
    at: number,
    [token, leaseUntil]: readonly [number, number],
    step: Step = 'granted',
  ): this {
    const asked = { what: 'renew', id: 't', token, leaseUntil } as const
    return this.#ask(by, at, step, (known, call) => ({ ...asked, step: known, call }))
  }

  end(at: number, [slot, token]: readonly [number | null, number], leaseUntil?: number): this {
    const lease = leaseUntil === undefined ? {} : { leaseUntil }
    this.tell('director', at, { what: 'calm' })
    return this.tell('director', at, { what: 'row at the end', id: 't', slot, token, ...lease })
  }

  #claim(by: string, at: number, answer: Pick<ClaimFact, 'step' | 'grant'>): this {
    const asked = { what: 'claim', id: 't', owner: `${by}/${at}`, now: at } as const
    return this.tell(by, at, { ...asked, ...answer, call: this.#calls })
  }

  #ask(by: string, at: number, step: Step, fact: (step: Step, call: number) => Telling): this {
    const call = ++this.#calls
    this.tell(by, at, fact('sent', call))
    return step === 'sent' ? this : this.tell(by, at, fact(step, call))
  }

  #ofRun(
    what: RunFact['what'],
    by: string,
    at: number,
    about: Pick<RunFact, 'slot' | 'token' | 'missed'>,
  ): this {
    return this.tell(by, at, { what, id: 't', ...about })
  }
}
