// What a fuzz target is. Inputs are text: what bytes from outside are once they are read.

/** One thing that takes data from outside. */
export interface Target {
  /** Words that the fuzzer may put together. */
  readonly words: readonly string[]
  /** Inputs to begin with, should the corpus be lost. */
  readonly seeds: readonly string[]
  /** Throws, or rejects, for a text that shows a defect. */
  readonly fuzz: (text: string) => void | Promise<void>
}

/** A defect that an input has shown. */
export class Defect extends Error {
  override readonly name = 'Defect'
}

/** Throws a {@link Defect} unless the fact holds. */
export function must(fact: boolean, what: string): asserts fact {
  if (!fact) throw new Defect(what)
}

/** What the call throws, which must be an error of one of the classes; `undefined` when nothing. */
export function refusal<E extends Error>(
  call: () => unknown,
  ...allowed: readonly (abstract new (
    ...args: never[]
  ) => E)[]
): E | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    for (const each of allowed)
      if (error instanceof each && !UNWORDED.test(error.message)) return error
    throw error
  }
}

/** How V8 words its own errors: nobody wrote them for a reader. */
const UNWORDED =
  /is not (a function|iterable|defined)|Cannot read|Invalid (array|string|time)|stack size/

/** Nothing in it moves a cursor, starts a line, or turns the writing direction. */
export function isPlainLine(text: string): boolean {
  return !/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(text)
}
