// True time, which no replica can see: a queue of what happens next. Things happen one at a time,
// in an order that only the seed decides.

interface Happening {
  readonly at: number
  readonly order: number
  readonly action: () => void
}

/** The happenings of one simulation, in ms of true time. */
export class Timeline {
  now: number
  /** Code of the engine has run: its promises must settle before anything else happens. */
  mustSettle = false
  readonly #heap: Happening[] = []
  #order = 0

  constructor(start: number) {
    this.now = start
  }

  /** Happens at that instant, or now when it is past; among equals, after those set before. */
  at(instant: number, action: () => void): void {
    const heap = this.#heap
    const happening = { at: Math.max(instant, this.now), order: this.#order++, action }
    let index = heap.length
    heap.push(happening)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (isBefore(heap[parent]!, happening)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = happening
  }

  /** Lets the next thing happen unless it lies after `until`; answers whether it did. */
  step(until: number): boolean {
    const first = this.#heap[0]
    if (!first || first.at > until) {
      this.now = until
      return false
    }
    this.#removeFirst()
    this.now = first.at
    first.action()
    return true
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
  }
}

function isBefore(a: Happening, b: Happening): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
