// The one error class of the durable side. Misuse is a TypeError or RangeError and has no code;
// expected outcomes (slot taken, lease lost, no run) are values and never thrown.

/**
 * What went wrong, stable across releases:
 * - `STORE_UNAVAILABLE` the store could not be reached or did not answer; retrying may help.
 * - `STORE_OUTCOME_UNKNOWN` a write was sent and its reply was lost: it may have happened or not.
 * - `STORE_FOREIGN_SCHEMA` a table, key or bucket of our name has a shape we did not create.
 * - `STORE_NEWER_SCHEMA` the data was written by a newer release; this one leaves it untouched. Of
 *   one row, not of the whole store, when `details.isOneRow` is true.
 * - `STORE_DAMAGED_RECORD` a stored row cannot be read; it is left untouched.
 * - `STORE_TOKEN_CEILING` a fencing token reached 2^53 - 1 and cannot grow.
 * - `STORE_DRIVER_MISSING` the optional driver package of a store is not installed.
 * - `STORE_CLOSED` the store was used after `stop()`.
 */
export type CronfenceErrorCode =
  | 'STORE_UNAVAILABLE'
  | 'STORE_OUTCOME_UNKNOWN'
  | 'STORE_FOREIGN_SCHEMA'
  | 'STORE_NEWER_SCHEMA'
  | 'STORE_DAMAGED_RECORD'
  | 'STORE_TOKEN_CEILING'
  | 'STORE_DRIVER_MISSING'
  | 'STORE_CLOSED'

/**
 * Facts about an error, for logs and alarms. `isLocked` is true when somebody else has kept a row
 * locked for too long: the rest of the store may be well.
 */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null>>

/** An error of the durable side: a stable `code`, a helpful text, the `cause`, and `details`. */
export class CronfenceError extends Error {
  override readonly name = 'CronfenceError'
  readonly code: CronfenceErrorCode
  readonly details: ErrorDetails

  constructor(
    code: CronfenceErrorCode,
    message: string,
    { cause, details = {} }: { cause?: unknown; details?: ErrorDetails } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }
}

/** A batch that was not answered for all its items; code, text and details are of the failure. */
export class BatchError extends CronfenceError {
  /**
   * Of the first items, in their order: the result, or the error that is that item's own. Of the
   * items after them this very error is the answer.
   */
  readonly answers: readonly unknown[]
  /** What went wrong; the `cause`, too. */
  readonly failure: CronfenceError

  constructor(failure: CronfenceError, answers: readonly unknown[]) {
    super(failure.code, failure.message, { cause: failure, details: failure.details })
    this.answers = answers
    this.failure = failure
  }
}
