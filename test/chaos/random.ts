// Numbers by chance that a seed repeats.

/** A stream of numbers from 0 to 1 that is the same for the same seed (mulberry32). */
export function randomStream(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** One of the keys, each as often as its weight says. */
export function weighted<Key extends string>(
  weights: Readonly<Record<Key, number>>,
  random: () => number,
): Key {
  const entries = Object.entries(weights) as [Key, number][]
  let left = random() * entries.reduce((sum, [, weight]) => sum + weight, 0)
  const found = entries.find(([, weight]) => {
    left -= weight
    return left < 0
  })
  return (found ?? (entries[0] as [Key, number]))[0]
}
