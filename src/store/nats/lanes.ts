// Many requests over one connection, but not all at once: a server drops what it cannot queue.

/** Runs so many tasks at once; the rest wait, first come first served. */
export class Lanes {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resume) => this.#waiting.push(resume))
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
