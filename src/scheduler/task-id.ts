// Ids of durable tasks: checked once, here, and joined with the namespace so that no two of them
// meet in a store: a separator in front of an id says that its namespace is the empty one.

const SEPARATOR = '\u001f'
const BYTES_MAX = 1024

/** The id under which a task is stored. `TypeError` for an id that no store could keep apart. */
export function storedId(namespace: string, id: string): string {
  checkText('id', id)
  if (id === '') throw new TypeError('id: must not be empty')
  const stored = namespace === '' && !id.includes(SEPARATOR) ? id : `${namespace}${SEPARATOR}${id}`
  const bytes = new TextEncoder().encode(stored).length
  if (bytes <= BYTES_MAX) return stored
  throw new TypeError(
    `id: ${bytes} bytes of UTF-8 with its namespace, at most ${BYTES_MAX} are allowed`,
  )
}

/** The id of a stored one, or `undefined` when it belongs to another namespace or is no text. */
export function idInNamespace(namespace: string, stored: unknown): string | undefined {
  if (typeof stored !== 'string') return undefined
  const end = stored.indexOf(SEPARATOR)
  if (end < 0) return namespace === '' ? stored : undefined
  return stored.slice(0, end) === namespace ? stored.slice(end + 1) : undefined
}

/** `TypeError` unless the namespace is text that can stand before an id. */
export function checkNamespace(namespace: string): void {
  checkText('namespace', namespace)
  if (!namespace.includes(SEPARATOR)) return
  throw new TypeError('namespace: must not contain U+001F, which parts it from the id')
}

function checkText(name: string, text: unknown): void {
  if (typeof text !== 'string') throw new TypeError(`${name}: must be a string, not ${typeof text}`)
  if (text.includes('\0')) throw new TypeError(`${name}: must not contain NUL (U+0000)`)
  // A lone surrogate has no UTF-8; `isWellFormed` is younger than our language level.
  if (/\p{Surrogate}/u.test(text)) {
    throw new TypeError(`${name}: must be well-formed Unicode, but has a lone surrogate`)
  }
}
