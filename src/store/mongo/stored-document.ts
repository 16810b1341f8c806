// Documents to values. A stored value is believed only after it was looked at: collections get
// edited by hand and restored in part, and a wrong token breaks the fence. What cannot be read is
// left as it is.

import { CronfenceError } from '../../errors.ts'
import { checkId } from '../arguments.ts'
import { ID_LENGTH_MAX, integerOf, shownText } from '../stored-row.ts'
import type { MongoFields } from './mongo-client.ts'

/** Where a document was found, for errors. */
export interface Place {
  /** The store, and where it is. */
  readonly store: string
  readonly collection: string
}

/** Reads the fields of one document; whatever has the wrong type or range throws. */
export class StoredDocument {
  readonly #fields: MongoFields
  readonly #place: Place

  constructor(fields: MongoFields, place: Place) {
    this.#fields = fields
    this.#place = place
  }

  /** The document's key, which no call could name if it were not one. */
  get id(): string {
    const id = this.text('_id')
    try {
      checkId(id)
    } catch (error) {
      this.fail(`it cannot be an id: ${(error as Error).message}`)
    }
    return id
  }

  isNull(field: string): boolean {
    return (this.#fields[field] ?? null) === null
  }

  instant(field: string): number {
    const number = integerOf(this.#fields[field])
    return number ?? this.#wrong(field, 'an integer within ±(2^53 - 1)')
  }

  /** Here nothing is not as good as null. */
  instantOrNull(field: string): number | null {
    return this.#fields[field] === null ? null : this.instant(field)
  }

  token(field: string): number {
    const number = integerOf(this.#fields[field])
    if (number === undefined || number < 0) this.#wrong(field, 'from 0 to 2^53 - 1')
    return number
  }

  text(field: string): string {
    const value = this.#fields[field]
    return typeof value === 'string' && value !== '' ? value : this.#wrong(field, 'text')
  }

  texts(field: string): string[] {
    const value = this.#fields[field]
    const isTexts = Array.isArray(value) && value.every((each) => typeof each === 'string')
    return isTexts ? value : this.#wrong(field, 'an array of texts')
  }

  oneOf<T extends string>(field: string, allowed: readonly T[]): T {
    const found = allowed.find((each) => each === this.#fields[field])
    return found ?? this.#wrong(field, `one of ${allowed.join(', ')}`)
  }

  /** Refuses the document; `problem` says which field and why. */
  fail(problem: string): never {
    const { store, collection } = this.#place
    const { _id: id } = this.#fields
    const text = shownText(id, ID_LENGTH_MAX)
    // What is no text, or too long for an id, may be anything: nobody is told to paste it.
    const remedy =
      text === id
        ? `, with: db.getCollection(${JSON.stringify(collection)})` +
          `.deleteOne({ _id: ${JSON.stringify(id)} })`
        : ''
    throw new CronfenceError(
      'STORE_DAMAGED_RECORD',
      `${store}, collection ${collection}, _id ${JSON.stringify(text)}: ${problem}. ` +
        `The document is left as it is: repair it, or remove it, token and all${remedy}`,
      { details: { collection, id: text } },
    )
  }

  #wrong(field: string, allowed: string): never {
    this.fail(`${field} must be ${allowed}, found ${shown(this.#fields[field]).slice(0, 80)}`)
  }
}

function shown(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  const plain = (_: string, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner)
  return JSON.stringify(value, plain) ?? 'nothing'
}
