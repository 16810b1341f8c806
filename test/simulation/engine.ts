// The engine under test, as a simulation takes it: from source, or from a build with a mutation.

import type { CronfenceError, Scheduler } from '../../src/index.ts'

/** What a simulation needs of the library. */
export interface Engine {
  readonly Scheduler: typeof Scheduler
  readonly CronfenceError: typeof CronfenceError
}
