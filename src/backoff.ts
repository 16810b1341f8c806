// How long to wait before the next try: longer each time, and not in step with other replicas.

/** Waits of one retry loop, in ms. */
export class Backoff {
  #failures = 0
  readonly #baseMs: number
  readonly #maxMs: number
  readonly #random: () => number

  /** The first wait is at most `baseMs`, later ones double up to `maxMs`. */
  constructor({
    baseMs,
    maxMs,
    random = Math.random,
  }: {
    baseMs: number
    maxMs: number
    random?: () => number
  }) {
    this.#baseMs = baseMs
    this.#maxMs = maxMs
    this.#random = random
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures
  }

  /** Counts a failure and answers how long to wait: between half and all of the doubled base. */
  fail(): number {
    const longestMs = Math.min(this.#maxMs, this.#baseMs * 2 ** Math.min(this.#failures++, 30))
    return longestMs * (0.5 + this.#random() / 2)
  }

  succeed(): void {
    this.#failures = 0
  }
}
