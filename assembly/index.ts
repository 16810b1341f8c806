// The export list of the cron core. It has no clock, no zone names, no messages and no imports; it
// allocates only when the host adds a zone, installs a chunk or interns an expression.

import { SLOTS } from './abi'
import { fillMonths } from './calendar'

export {
  MASKS,
  OUTPUT,
  RECORD_SIZE,
  SLOTS,
  SLOT_COUNT,
  scratch,
} from './abi'
export { BATCH_ITEMS, batchDone, batchInput, batchNext, intern, recordOfId } from './batch'
export { ITEMS_MAX } from './pool'
export { compile } from './parse'
export { enumerate, matches, next, prev, resumeAt } from './query'
export {
  CHUNK_FIRST,
  CHUNK_MS,
  MARGIN,
  addFixedZone,
  addZone,
  chunkInput,
  installChunk,
} from './zone'

fillMonths()
// The compiler's constants (memoryBase in asconfig.json) must end where the slots start.
if (__data_end > SLOTS) unreachable()
