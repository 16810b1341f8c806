// What a bucket must be like for tokens to be safe in it. It is only looked at, never changed.

import { CronfenceError } from '../../errors.ts'
import type { StreamConfig } from './nats-client.ts'

/** A setting that takes a guarantee away. */
interface Flaw {
  readonly isFlawed: (config: StreamConfig) => boolean
  /** What it is, and what that takes away. */
  readonly text: string
}

const TOKENS = 'rows and tombstones would vanish and fencing tokens go back'

const REFUSED: readonly Flaw[] = [
  {
    isFlawed: ({ max_age = 0 }) => max_age > 0,
    text: `it drops values at a certain age (max_age, TTL): ${TOKENS}`,
  },
  {
    isFlawed: ({ discard, max_bytes = -1, max_msgs = -1 }) =>
      discard !== 'new' && (max_bytes > 0 || max_msgs > 0),
    text: `it drops old values when it is full (discard old): ${TOKENS}`,
  },
  {
    isFlawed: ({ retention = 'limits' }) => retention !== 'limits',
    text: `its stream drops what was read (retention other than limits): ${TOKENS}`,
  },
  {
    isFlawed: ({ mirror }) => mirror != null,
    text: 'it mirrors another bucket: reads lag behind writes, and claims would go by them',
  },
  {
    isFlawed: ({ sources = [] }) => (sources ?? []).length > 0,
    text: 'it takes values from other streams, which heed no revision: claims would be overwritten',
  },
  {
    isFlawed: ({ no_ack = false }) => no_ack,
    text: 'its stream does not confirm writes (no_ack): no claim could be known to be won',
  },
  { isFlawed: ({ sealed = false }) => sealed, text: 'it is sealed: nothing can be written' },
  {
    isFlawed: ({ persist_mode }) => persist_mode === 'async',
    text: 'it confirms writes before it keeps them (persist_mode async): claims could be lost',
  },
]

const WARNED: readonly Flaw[] = [
  {
    isFlawed: ({ storage }) => storage === 'memory',
    text: 'it is kept in memory: a restart of the server forgets every schedule and token',
  },
  {
    isFlawed: ({ allow_msg_ttl = false }) => allow_msg_ttl,
    text: 'it lets writers give values a TTL: fencing tokens hold only as long as none does',
  },
]

/**
 * What is wrong with a bucket but can be lived with, a text each. Throws `STORE_FOREIGN_SCHEMA` for
 * a bucket that cannot keep the promises of a store.
 */
export function checkBucket(config: StreamConfig, name: string): string[] {
  const fatal = REFUSED.filter(({ isFlawed }) => isFlawed(config))
  if (fatal.length > 0) {
    throw new CronfenceError(
      'STORE_FOREIGN_SCHEMA',
      `${name}: the bucket cannot be used: ${fatal.map(({ text }) => text).join('; ')}. ` +
        'Change its settings or choose another bucket. Nothing was changed.',
    )
  }
  const flaws = WARNED.filter(({ isFlawed }) => isFlawed(config))
  return flaws.map(({ text }) => `${name}: the bucket weakens a guarantee: ${text}`)
}
