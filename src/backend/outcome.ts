// How ticks end, as values, and promises of it that may go unheard.

/** How a tick ended. */
export type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: unknown }

export const SUCCESS: Outcome = { ok: true }

/** Calls at once; never throws or rejects. */
export async function outcomeOf(action: () => Promise<unknown>): Promise<Outcome> {
  try {
    await action()
    return SUCCESS
  } catch (error) {
    return { ok: false, error }
  }
}

/** A promise that is settled from outside. Nobody has to listen when it rejects. */
export class Deferred {
  readonly promise: Promise<void>
  #end: (outcome: Outcome) => void = () => {}

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#end = (outcome) => (outcome.ok ? resolve() : reject(outcome.error))
    })
    this.promise.catch(() => {})
  }

  /** Only the first call counts. */
  end(outcome: Outcome): void {
    this.#end(outcome)
  }
}
