// The coordinator that stores hand out: a campaign for the leader's lease with the usual values.

import { systemClock } from '../clock.ts'
import { Campaign, type CampaignOptions } from './leader-gate.ts'

/** What a {@link LeaseCoordinator} needs; only `provider` has no default. */
export type LeaseCoordinatorOptions = Pick<CampaignOptions, 'provider'> & Partial<CampaignOptions>

/**
 * A `Coordinator` over any `LeaseProvider`, not started. Defaults: the lease `scheduler:leader` for
 * 30 s, a random owner, the machine's clock, and a warning on the console for each error.
 * Throws a `RangeError` unless `ttlMs` is a whole number of ms from 3 up.
 */
export class LeaseCoordinator extends Campaign {
  constructor(options: LeaseCoordinatorOptions) {
    const { ttlMs = 30_000 } = options
    if (!Number.isSafeInteger(ttlMs) || ttlMs < 3) {
      throw new RangeError(`ttlMs: must be a whole number of ms from 3 up, got ${ttlMs}`)
    }
    super({
      name: 'scheduler:leader',
      owner: crypto.randomUUID(),
      clock: systemClock,
      onError: warn,
      ...options,
      ttlMs,
    })
  }
}

function warn(error: unknown): void {
  console.warn('cronfence: the leader lease could not be renewed or acquired:', error)
}
