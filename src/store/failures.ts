// What a server or its driver reports, sorted by the one question that matters after a failure: did
// the request happen? Each store has a table from its codes to these rows; what no row proves is
// unknown.

import { CronfenceError, type CronfenceErrorCode, type ErrorDetails } from '../errors.ts'

/** A failure as a store's table has it. */
export interface Failure {
  /** `not-applied`: nothing of the request was done, or all of it was undone. */
  readonly outcome: 'not-applied' | 'unknown'
  /** The same request may work in a moment. */
  readonly isTransient?: boolean
  /** Default: `STORE_UNAVAILABLE` when not applied, else `STORE_OUTCOME_UNKNOWN`. */
  readonly code?: CronfenceErrorCode
  /** What the reader can do about it. */
  readonly remedy?: string
  readonly details?: ErrorDetails
}

/** Whose failure it is, for the error's text. */
export interface Site {
  /** The store, and where it is, without credentials: `PostgresStore at db:5432/app`. */
  readonly store: string
  /** A lost reply to a request that only reads is no riddle. */
  readonly isWrite: boolean
}

/** The `CronfenceError` for a failure, with the driver's error as its cause. */
export function failureError(failure: Failure, { store, isWrite }: Site, cause: unknown) {
  const isUnknown = failure.outcome === 'unknown' && isWrite
  const code = failure.code ?? (isUnknown ? 'STORE_OUTCOME_UNKNOWN' : 'STORE_UNAVAILABLE')
  const driverCode = (cause as { code?: unknown } | undefined)?.code
  const texts = [
    `${store}: ${textOf(cause)}`,
    isUnknown ? 'the change may or may not have been made' : undefined,
    failure.remedy,
  ]
  return new CronfenceError(code, texts.filter((text) => text !== undefined).join('; '), {
    cause,
    details: {
      driverCode: driverCode === undefined ? null : String(driverCode),
      ...failure.details,
    },
  })
}

// A driver that tried several addresses throws an AggregateError, whose own text is empty.
function textOf(cause: unknown): string {
  if (cause instanceof AggregateError && cause.message === '')
    return cause.errors.map(textOf).join(', ')
  return cause instanceof Error ? cause.message : String(cause)
}
