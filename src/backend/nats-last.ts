// `last.<name>`: the newest completed slot of a registration, as ISO 8601. It only moves forward,
// and is what a catch-up starts from.

import { type Bucket, isConflict } from './nats-client.ts'
import { seenMarker } from './nats-marker.ts'
import { lastKey } from './run-key.ts'

/** The newest completed slot; `undefined` when none is known. */
export async function readLast(bucket: Bucket, name: string): Promise<number | undefined> {
  return (await lastOf(bucket, name)).slot
}

/** Moves `last.<name>` on to `slot`, unless it is there or beyond. */
export async function advanceLast(bucket: Bucket, name: string, slot: number): Promise<void> {
  const text = new Date(slot).toISOString()
  for (;;) {
    const last = await lastOf(bucket, name)
    if (last.slot !== undefined && last.slot >= slot) return
    try {
      if (last.revision === undefined) await bucket.create(lastKey(name), text)
      else await bucket.update(lastKey(name), text, last.revision)
      return
    } catch (error) {
      // Another process has moved it: at least as far, perhaps, so look again.
      if (!isConflict(error)) throw error
    }
  }
}

async function lastOf(
  bucket: Bucket,
  name: string,
): Promise<{ slot: number | undefined; revision: number | undefined }> {
  const seen = seenMarker(await bucket.get(lastKey(name)))
  const slot = Date.parse(seen?.text ?? '')
  return { slot: Number.isNaN(slot) ? undefined : slot, revision: seen?.revision }
}
