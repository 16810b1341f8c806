// The backend that keeps nothing: for one process, development and tests. It shows what the
// contract means where there is nothing to claim and nothing to remember.

import { type Clock, systemClock } from '../clock.ts'
import type { Backend, Registration, RegistrationSpec, Tick } from './contract.ts'
import { checkedSpec } from './registration-spec.ts'
import { SlotTimers } from './slot-timer.ts'
import { TickChain } from './tick-chain.ts'

/** Options of `inProcess`. */
export interface InProcessOptions {
  readonly clock?: Clock | undefined
}

/**
 * Runs registrations in this process. Intervals count from the registration. `catchUp` must be
 * `'skip'`, for there is nothing to catch up from; the `dedupKey` of a trigger is ignored.
 */
export function inProcess({ clock = systemClock }: InProcessOptions = {}): Backend {
  const timers = new SlotTimers(clock)
  return {
    register(spec: RegistrationSpec, tick: Tick): Registration {
      const checked = checkedSpec(spec, tick, timers.queue.now())
      if (checked.catchUp !== 'skip') {
        throw new TypeError(
          `catchUp: '${checked.catchUp}' needs a durable backend, such as nats() or durable(); ` +
            `inProcess() remembers nothing and takes 'skip' alone`,
        )
      }
      const chain = new TickChain({ spec: checked, clock: timers.queue })
      const timer = timers.start({
        slots: checked.slots,
        onSlot: (slot) => chain.offer(slot),
      })
      return {
        trigger: (dedupKey) => chain.trigger(dedupKey),
        next: () => timer.next,
        stop() {
          timer.stop()
          return chain.stop()
        },
      }
    },
  }
}
