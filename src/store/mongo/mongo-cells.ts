// Compare and set: documents are read, a step is decided from each, and the outcome is written on
// the condition that the write which left the document so is still its last; or it begins again.
// That is one change of one document, which MongoDB makes atomically, for many ids in one command.
//
// Of many changes the server only says how many were made. When some were not, the documents tell
// which: each has the names of its last writes.

import { BatchError, CronfenceError } from '../../errors.ts'
import { type Answer, answerOf } from '../wave-schedule-store.ts'
import type { MongoFields } from './mongo-client.ts'
import type { MongoConnection } from './mongo-connection.ts'
import { StoredDocument } from './stored-document.ts'

/** How many writes before the last one a document remembers. */
const PAST_MAX = 8
const CONFLICTS_MAX = 1000
// What one command changes: a few ms of the server's time, and a document of 16 MiB at most, where
// a unit of text may come to three bytes.
const PIECE_MAX = 250
const PIECE_UNITS_MAX = 4_000_000

/** What {@link Cells} stand on. */
export interface CellsOptions<T> {
  readonly connection: MongoConnection
  readonly collection: string
  /** Throws `STORE_DAMAGED_RECORD`. */
  readonly parse: (stored: StoredDocument) => T
  /** All fields of a value but its id. */
  readonly fieldsOf: (value: T) => MongoFields
}

/** What is to become of a document. */
export interface Step<T, R> {
  /** What to write; absent: nothing. */
  readonly next?: T
  readonly result: R
}

/** Decides what becomes of a document; `undefined`: there is none. */
export interface Decider<Item, T, R> {
  /** `ground` is what `beforeAdding` answered. */
  decide(value: T | undefined, item: Item, ground: number): Step<T, R>
  /** What is found counts even when nothing is written: no failover may undo it. */
  readonly isFinal?: boolean
  /** Runs when documents were seen to be missing, before any is added. */
  beforeAdding?(): Promise<number>
}

interface Cell<T> {
  readonly value: T
  /** The names of the last writes, newest first. */
  readonly writes: readonly string[]
}

interface Change<T, R> {
  readonly id: string
  readonly from: Cell<T> | undefined
  readonly next: T
  readonly result: R
}

/** Values of one kind in a collection, by id. */
export class Cells<T extends object> {
  readonly #options: CellsOptions<T>
  readonly #instance = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url')
  #calls = 0

  constructor(options: CellsOptions<T>) {
    this.#options = options
  }

  /** The values under the ids, for good; what is absent is not in the map. */
  async read(ids: readonly string[]): Promise<Map<string, Answer<T>>> {
    const cells = [...(await this.#read(ids, true))]
    return new Map(cells.map(([id, cell]) => [id, valueIn(cell)]))
  }

  /** The values of a page in the order of ids, of those that the filter finds. */
  async page(filter: MongoFields, after: string, limit: number): Promise<Map<string, Answer<T>>> {
    const query = { filter: { ...filter, _id: { $gt: after } }, sort: { _id: 1 }, limit }
    const { connection, collection } = this.#options
    const documents = await connection.find(collection, query)
    return new Map(documents.map((each) => [String(each._id), valueIn(this.#cellIn(each))]))
  }

  /** Takes a step for each item, each atomic on its own. No id may come twice. */
  async change<Item extends { readonly id: string }, R>(
    items: readonly Item[],
    decider: Decider<Item, T, R>,
  ): Promise<Answer<R>[]> {
    const write = `${this.#instance}.${(this.#calls++).toString(36)}`
    const answers = new Map<string, Answer<R>>()
    const tried = new Map<string, R>()
    let open = items
    let isBegun = false
    try {
      for (let round = 0; open.length > 0; round++) {
        if (round === CONFLICTS_MAX) throw this.#contended()
        const changes = await this.#decided(open, decider, { write, tried, answers })
        for (const piece of inPieces(changes)) {
          const count = await this.#write(piece, write)
          isBegun ||= count > 0
          if (count === piece.length) for (const { id, result } of piece) answers.set(id, result)
        }
        open = open.filter(({ id }) => !answers.has(id))
      }
    } catch (error) {
      if (!isBegun) throw error
      const failure = partlyDone(error)
      const known = items.map(({ id }) => (answers.has(id) ? answers.get(id) : failure))
      throw new BatchError(failure, known)
    }
    return items.map(({ id }) => answers.get(id) as Answer<R>)
  }

  /** The changes to be made for those items whose answer is not known without. */
  async #decided<Item extends { readonly id: string }, R>(
    items: readonly Item[],
    decider: Decider<Item, T, R>,
    call: { write: string; tried: Map<string, R>; answers: Map<string, Answer<R>> },
  ): Promise<Change<T, R>[]> {
    const { write, tried, answers } = call
    const ids = items.map(({ id }) => id)
    const cells = await this.#read(ids, decider.isFinal ?? false)
    const ground = cells.size < items.length ? await decider.beforeAdding?.() : undefined
    const changes: Change<T, R>[] = []
    for (const item of items) {
      const { id } = item
      const from = cells.get(id)
      const answer = answerOf(() => {
        if (from instanceof CronfenceError) throw from
        if (from?.writes.includes(write)) return tried.get(id) as R
        const { next, result } = decider.decide(from?.value, item, ground ?? 0)
        if (next !== undefined) changes.push({ id, from, next, result })
        return result
      })
      const isOpen = changes.at(-1)?.id === id
      if (isOpen) tried.set(id, answer as R)
      else answers.set(id, answer)
    }
    return changes
  }

  /** How many of the changes were made; they are either all additions or none is. */
  async #write<R>(changes: readonly Change<T, R>[], write: string): Promise<number> {
    const { connection, collection, fieldsOf } = this.#options
    if (changes[0]?.from === undefined) {
      const documents = changes.map(({ id, next }) => {
        return { _id: id, ...fieldsOf(next), write, past: [] }
      })
      return connection.insert(collection, documents)
    }
    const updates = changes.map(({ id, from, next }) => {
      const [last, ...past] = from?.writes ?? []
      const before = from ? fieldsOf(from.value) : {}
      const changed = Object.entries(fieldsOf(next)).filter(([name, to]) => before[name] !== to)
      const names = { write, past: [last, ...past].slice(0, PAST_MAX) }
      return {
        q: { _id: id, write: last },
        u: { $set: { ...Object.fromEntries(changed), ...names } },
      }
    })
    return connection.update(collection, updates)
  }

  async #read(ids: readonly string[], isFinal: boolean): Promise<Map<string, Answer<Cell<T>>>> {
    const { connection, collection } = this.#options
    const filter = { _id: ids.length === 1 ? ids[0] : { $in: ids } }
    const documents = await connection.find(collection, { filter, isFinal })
    return new Map(documents.map((each) => [String(each._id), this.#cellIn(each)]))
  }

  #cellIn(document: MongoFields): Answer<Cell<T>> {
    const { connection, collection, parse } = this.#options
    const stored = new StoredDocument(document, { store: connection.name, collection })
    return answerOf(() => {
      return { value: parse(stored), writes: [stored.text('write'), ...stored.texts('past')] }
    })
  }

  #contended(): CronfenceError {
    const { connection, collection } = this.#options
    return new CronfenceError(
      'STORE_UNAVAILABLE',
      `${connection.name}: others were quicker to change a document of ${collection} ` +
        `${CONFLICTS_MAX} times; nothing was done`,
    )
  }
}

function valueIn<T>(cell: Answer<Cell<T>>): Answer<T> {
  return cell instanceof CronfenceError ? cell : cell.value
}

/** Additions, then changes, cut so that each part fits in a command. */
function inPieces<T extends object, R>(changes: readonly Change<T, R>[]): Change<T, R>[][] {
  const pieces: Change<T, R>[][] = []
  for (const isAddition of [true, false]) {
    let piece: Change<T, R>[] = []
    let units = 0
    for (const change of changes) {
      if ((change.from === undefined) !== isAddition) continue
      units += unitsOf(change.next)
      if (piece.length === 0 || piece.length === PIECE_MAX || units > PIECE_UNITS_MAX) {
        piece = []
        pieces.push(piece)
        units = unitsOf(change.next)
      }
      piece.push(change)
    }
  }
  return pieces
}

function unitsOf(value: object): number {
  const lengths = Object.values(value).map((field) => {
    return typeof field === 'string' ? field.length : 0
  })
  return lengths.reduce((sum, length) => sum + length, 0)
}

function partlyDone(error: unknown): CronfenceError {
  const text = error instanceof Error ? error.message : String(error)
  return new CronfenceError(
    'STORE_OUTCOME_UNKNOWN',
    `${text}; other parts of the batch were done`,
    { cause: error },
  )
}
