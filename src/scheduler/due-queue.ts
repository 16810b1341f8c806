// What falls due next: a binary heap in which every node knows its place, so that taking one out is
// as cheap as putting one in and a cancelled task leaves nothing behind.

/** Something that waits in a queue. A node is in one queue at a time. */
export interface DueNode {
  dueAt: number
  /** Place in the heap; -1 outside of it. Only the queue writes it. */
  heapIndex: number
  /** Breaks ties: the smaller comes first. */
  readonly order: number
}

/** Nodes by the time they are due, the earliest first. */
export class DueQueue<T extends DueNode> {
  readonly #heap: T[] = []

  get size(): number {
    return this.#heap.length
  }

  peek(): T | undefined {
    return this.#heap[0]
  }

  /** Puts a node in, or moves it when it is in already. O(log n). */
  set(node: T, dueAt: number): void {
    node.dueAt = dueAt
    if (node.heapIndex < 0) {
      node.heapIndex = this.#heap.length
      this.#heap.push(node)
    }
    this.#siftUp(node)
    this.#siftDown(node)
  }

  /** Takes a node out; does nothing when it is not in. O(log n). */
  delete(node: T): void {
    if (node.heapIndex < 0) return
    const last = this.#heap.pop()!
    if (last !== node) {
      this.#place(last, node.heapIndex)
      this.#siftUp(last)
      this.#siftDown(last)
    }
    node.heapIndex = -1
  }

  #place(node: T, index: number): void {
    this.#heap[index] = node
    node.heapIndex = index
  }

  #siftUp(node: T): void {
    let index = node.heapIndex
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#heap[parentIndex]!
      if (!before(node, parent)) break
      this.#place(parent, index)
      index = parentIndex
    }
    this.#place(node, index)
  }

  #siftDown(node: T): void {
    const heap = this.#heap
    let index = node.heapIndex
    for (;;) {
      let childIndex = 2 * index + 1
      if (childIndex >= heap.length) break
      const right = childIndex + 1
      if (right < heap.length && before(heap[right]!, heap[childIndex]!)) childIndex = right
      const child = heap[childIndex]!
      if (!before(child, node)) break
      this.#place(child, index)
      index = childIndex
    }
    this.#place(node, index)
  }
}

function before(a: DueNode, b: DueNode): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order)
}
