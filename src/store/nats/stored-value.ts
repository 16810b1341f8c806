// Values to texts and back. A stored value is believed only after it was looked at: buckets get
// edited by hand and restored in part, and a wrong token breaks the fence. What cannot be read is
// left as it is.

import { CronfenceError } from '../../errors.ts'
import { idBytes } from '../arguments.ts'

/** The layout of all values. */
const VERSION = 1

/** The legal key for an id or a name, whatever is in it. */
export function keyOf(prefix: string, id: string): string {
  return `${prefix}.${Buffer.from(idBytes(id)).toString('base64url')}`
}

/** Where a value was found, for errors. */
export interface Place {
  /** The store and the bucket. */
  readonly store: string
  readonly bucket: string
  readonly key: string
}

/** Reads the fields of one value; whatever has the wrong type or range throws. */
export class StoredValue {
  readonly #fields: Readonly<Record<string, unknown>>
  readonly #place: Place

  /** Throws `STORE_DAMAGED_RECORD`, or `STORE_NEWER_SCHEMA` for one of a newer release. */
  constructor(text: string, place: Place) {
    this.#place = place
    this.#fields = parsed(text) ?? this.#fail('it is not a JSON object')
    const { version } = this.#fields
    if (version === VERSION) return
    if (!Number.isSafeInteger(version) || Number(version) < VERSION) {
      this.#wrong('version', `a version, up to ${VERSION}`)
    }
    throw new CronfenceError(
      'STORE_NEWER_SCHEMA',
      `${this.#where()}: the value has version ${version}, this release knows versions up to ` +
        `${VERSION}: use the newer release of cronfence that wrote it. Nothing was changed.`,
      { details: { ...place, version: Number(version), isOneRow: true } },
    )
  }

  has(field: string): boolean {
    return this.#fields[field] !== undefined
  }

  instant(field: string): number {
    const value = this.#fields[field]
    return isInteger(value) ? value : this.#wrong(field, 'an integer within ±(2^53 - 1)')
  }

  instantOrNull(field: string): number | null {
    return this.#fields[field] === null ? null : this.instant(field)
  }

  token(field: string): number {
    const value = this.#fields[field]
    return isInteger(value) && value >= 0 ? value : this.#wrong(field, 'from 0 to 2^53 - 1')
  }

  text(field: string): string {
    const value = this.#fields[field]
    return typeof value === 'string' && value !== '' ? value : this.#wrong(field, 'text')
  }

  oneOf<T extends string>(field: string, allowed: readonly T[]): T {
    const found = allowed.find((each) => each === this.#fields[field])
    return found ?? this.#wrong(field, `one of ${allowed.join(', ')}`)
  }

  /** Refuses a value whose `field` is no id, or whose id has another key: a copy of its value. */
  assertKey(field: string, prefix: string): void {
    let key: string
    try {
      key = keyOf(prefix, this.text(field))
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      this.#fail(`${field} cannot be one: ${error.message}`)
    }
    if (key !== this.#place.key) this.#fail(`${field} is of another key, ${key}`)
  }

  /** Refuses the value; `problem` says which field and why. */
  fail(problem: string): never {
    this.#fail(problem)
  }

  #wrong(field: string, allowed: string): never {
    const found = JSON.stringify(this.#fields[field] ?? null).slice(0, 80)
    this.#fail(`${field} must be ${allowed}, found ${found}`)
  }

  #fail(problem: string): never {
    const { bucket, key } = this.#place
    throw new CronfenceError(
      'STORE_DAMAGED_RECORD',
      `${this.#where()}: ${problem}. The value is left as it is: repair it, or remove it, ` +
        `token and all, with: nats kv del ${bucket} ${key}`,
      { details: { bucket, key } },
    )
  }

  #where(): string {
    const { store, key } = this.#place
    const [, encoded] = key.split('.')
    const id = Buffer.from(encoded ?? '', 'base64url').toString()
    return `${store}, key ${key}${id === '' ? '' : ` (${JSON.stringify(id)})`}`
  }
}

/** The text of a value; `write` tells this write from every other. */
export function textOf(fields: object, write: string): string {
  return JSON.stringify({ version: VERSION, write, ...fields })
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined
  } catch {
    return undefined // Somebody else's writing.
  }
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
