// Registrations as users write them, checked at once and alike for every backend.

import { checkNames } from '../scheduler/options.ts'
import { type Slots, slotsOf } from './cadence.ts'
import type { Cadence, CatchUp, RegistrationSpec, Tick, TickOverlap, TickRun } from './contract.ts'

/** A checked registration, defaults filled in. */
export interface CheckedSpec {
  readonly name: string
  readonly cadence: Cadence
  readonly slots: Slots
  readonly overlap: TickOverlap
  readonly catchUp: CatchUp
  readonly onError: ((error: unknown, run: TickRun) => unknown) | undefined
  readonly tick: Tick
}

const SPEC_NAMES = ['name', 'cadence', 'overlap', 'catchUp', 'onError']
const OVERLAPS: readonly unknown[] = ['skip', 'queue']
const CATCH_UPS: readonly unknown[] = ['skip', 'last', 'all']

/** A key this long stays below the 4 KB at which a NATS server closes the connection. */
const TEXT_BYTES_MAX = 512

/**
 * Checks a registration. Intervals count from `anchor`, an instant.
 * @throws {TypeError} naming the field, what it is and what is allowed
 */
export function checkedSpec(spec: RegistrationSpec, tick: Tick, anchor: number): CheckedSpec {
  checkNames('registration', spec, SPEC_NAMES)
  const { name, cadence, overlap = 'skip', catchUp = 'skip', onError } = spec
  checkText('name', name)
  checkOneOf('overlap', overlap, OVERLAPS)
  checkOneOf('catchUp', catchUp, CATCH_UPS)
  if (onError !== undefined) checkFunction('onError', onError)
  checkFunction('tick', tick)
  const slots = slotsOf(cadence, { name, anchor })
  return { name, cadence, slots, overlap, catchUp, onError, tick }
}

/** @throws {TypeError} unless `text` can be part of a key */
export function checkText(what: string, text: unknown): void {
  if (typeof text !== 'string') {
    throw new TypeError(`${what}: must be a string, not ${text === null ? 'null' : typeof text}`)
  }
  if (text === '') throw new TypeError(`${what}: must not be empty`)
  // A lone surrogate has no UTF-8; `isWellFormed` is younger than our language level.
  if (/\p{Surrogate}/u.test(text)) {
    throw new TypeError(`${what}: must be well-formed Unicode, but has a lone surrogate`)
  }
  const bytes = new TextEncoder().encode(text).length
  if (bytes <= TEXT_BYTES_MAX) return
  throw new TypeError(`${what}: ${bytes} bytes of UTF-8, at most ${TEXT_BYTES_MAX} are allowed`)
}

function checkOneOf(what: string, value: unknown, allowed: readonly unknown[]): void {
  if (allowed.includes(value)) return
  const list = allowed.map((other) => `'${other}'`).join(', ')
  throw new TypeError(`${what}: must be one of ${list}, not ${String(value)}`)
}

function checkFunction(what: string, value: unknown): void {
  if (typeof value === 'function') return
  throw new TypeError(`${what}: must be a function, not ${value === null ? 'null' : typeof value}`)
}
