// Many expressions and many questions at once, over typed arrays, without an allocation an item. A
// batch has an instance of the core to itself: its records are packed there, and go with it.

import { checkExpression, enumerate } from './cron-expression.ts'
import { refusalOf } from './hints.ts'
import { type Instant, toEpochMs } from './instant.ts'
import { newCore } from './module.ts'
import { type ExpressionOptions, planOf } from './options.ts'

/** Status codes of assembly/status.ts that a batch answers with. */
const OK = 0
const UNKNOWN_ID = 32
const INVALID_INSTANT = 33
const TOO_MANY_IDS = 35

const NO_OPTIONS: ExpressionOptions = Object.freeze({})

/** A set of expressions, each under a small integer, asked in bulk. */
export class CronBatch {
  readonly #core = newCore()

  /**
   * Adds an expression and returns its id, counted from 0. Equal arguments give the same id, and so
   * may different texts that mean the same.
   * @throws {CronSyntaxError} when the text is not valid
   * @throws {TypeError} when it is no string, or an option is unknown or of the wrong kind
   * @throws {RangeError} when the zone is unknown, or the batch holds 2^24 expressions that mean
   *   different things
   */
  add(expression: string, options: ExpressionOptions = NO_OPTIONS): number {
    checkExpression(expression)
    const plan = planOf(options)
    const id = this.#core.intern(expression, plan)
    if (id === ~TOO_MANY_IDS) {
      const { value: max } = this.#core.exports.ITEMS_MAX
      throw new RangeError(`batch: ${max} expressions, and no more; begin another batch`)
    }
    if (id < 0) {
      // A batch leaves the slots of its core alone.
      const record = this.#core.slotAddress(0)
      throw refusalOf(this.#core, { expression, plan, status: ~id, record })
    }
    return id
  }

  /**
   * For each i, the first run of expression `ids[i]` strictly after `from[i]` (ms since the epoch),
   * up to four years ahead; NaN where there is none. Writes to `out` (a new array by default, and
   * it may be `from`) and returns it.
   * @throws {TypeError} when an argument is no such array
   * @throws {RangeError} when lengths differ, an id is unknown or an instant is none; what stands
   *   in `out` is then of no use
   */
  next(ids: Uint32Array, from: Float64Array, out = new Float64Array(ids.length)): Float64Array {
    checkArrays(ids, from, out)
    const { exports } = this.#core
    const block = exports.BATCH_ITEMS.value
    let start = 0
    while (start < ids.length) {
      const items = Math.min(block, ids.length - start)
      const input = exports.batchInput()
      const instants = input + block * 4
      this.#core.ids(input, items).set(ids.subarray(start, start + items))
      this.#core.instants(instants, items).set(from.subarray(start, start + items))
      const status = exports.batchNext(0, items)
      const done = exports.batchDone.value
      out.set(this.#core.instants(instants, done), start)
      start += done
      if (status === UNKNOWN_ID) {
        throw new RangeError(`ids[${start}]: ${ids[start]} is no id of this batch`)
      }
      if (status === INVALID_INSTANT) {
        throw new RangeError(
          `from[${start}]: ${from[start]} is no instant; ` +
            'expected ms since the epoch from -8.64e15 to 8.64e15',
        )
      }
      if (status !== OK) this.#core.installMissingChunk()
    }
    return out
  }

  /**
   * Writes the runs of one expression in `from <= run < until` to `out`, in order, until they end
   * or `out` is full, and returns how many were written.
   * @throws {TypeError} when an argument is of the wrong type
   * @throws {RangeError} when the id is unknown or an instant is none
   */
  occurrences(id: number, from: Instant, until: Instant, out: Float64Array): number {
    let start = toEpochMs(from, 'from')
    const end = toEpochMs(until, 'until')
    if (typeof id !== 'number') throw new TypeError(`id: expected a number, got ${typeof id}`)
    if (!(out instanceof Float64Array)) throw new TypeError('out: expected a Float64Array')
    const { exports } = this.#core
    // The core would take the id modulo 2^32.
    const record = id >>> 0 === id ? exports.recordOfId(id) : 0
    if (record === 0) throw new RangeError(`id: ${String(id)} is no id of this batch`)
    let written = 0
    while (start < end && written < out.length) {
      const limit = Math.min(out.length - written, exports.BATCH_ITEMS.value)
      const address = exports.scratch(limit * 8)
      const found = enumerate(this.#core, record, { from: start, until: end, out: address, limit })
      out.set(this.#core.instants(address, found.count), written)
      if (found.missing) this.#core.installMissingChunk()
      written += found.count
      start = found.resumeAt
    }
    return written
  }
}

function checkArrays(ids: unknown, from: unknown, out: unknown): void {
  if (!(ids instanceof Uint32Array)) throw new TypeError('ids: expected a Uint32Array')
  if (!(from instanceof Float64Array)) throw new TypeError('from: expected a Float64Array')
  if (!(out instanceof Float64Array)) throw new TypeError('out: expected a Float64Array')
  if (from.length !== ids.length || out.length < ids.length) {
    throw new RangeError(
      `from and out: expected ${ids.length} items as in ids, got ${from.length} and ${out.length}`,
    )
  }
}
