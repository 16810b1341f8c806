// The few assertions the conformance suite needs, so that it depends on no test framework.

/** Throws unless both are equal in depth. A key that is `undefined` counts as absent. */
export function same(actual: unknown, expected: unknown, what = 'the result'): void {
  if (isSame(actual, expected)) return
  throw new Error(`${what}: expected ${shown(expected)}, found ${shown(actual)}`)
}

/** Throws unless `action` rejects, and unless `holds` for the error. */
export async function rejects(
  action: () => Promise<unknown>,
  holds: (error: unknown) => boolean,
  what: string,
): Promise<void> {
  let result: unknown
  try {
    result = await action()
  } catch (error) {
    if (holds(error)) return
    throw new Error(`expected ${what}, it rejected with: ${error}`, { cause: error })
  }
  throw new Error(`expected ${what}, it resolved with ${shown(result)}`)
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right || Number.isNaN(left)) return left === right || Number.isNaN(right)
  if (typeof left !== 'object' || typeof right !== 'object' || !left || !right) return false
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  const [a, b] = [left as Record<string, unknown>, right as Record<string, unknown>]
  return [...keys].every((key) => isSame(a[key], b[key]))
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 600 ? `${text.slice(0, 600)}… (${text.length} characters)` : text
}
