// The one source of chance: a stream of numbers that a seed decides. Every part of a simulation has
// a stream of its own, so that a part which asks once more does not change all the others.

/** A stream of pseudo-random numbers (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
  }

  /** From 0 up to, but not, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `greatest`. */
  between(least: number, greatest: number): number {
    return least + Math.floor(this.next() * (greatest - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.next() * items.length)]!
  }

  /** Thousandfold differences are as likely as twofold ones. */
  spread(least: number, greatest: number): number {
    return least * (greatest / least) ** this.next()
  }

  /** A stream of its own. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32))
  }

  /** Hexadecimal digits in the shape of a UUID. */
  uuid(): `${string}-${string}-${string}-${string}-${string}` {
    const hex = (digits: number) => {
      let text = ''
      while (text.length < digits) text += Math.floor(this.next() * 16).toString(16)
      return text
    }
    return `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`
  }
}
