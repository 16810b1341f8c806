// What the tests of RedisStore's own behaviour start from: stores of one prefix on the shared
// server, and a client that looks into the keys behind their backs.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { RedisStore, type RedisStoreOptions } from '../../../src/store/redis/index.ts'
import { serverUrl } from '../../support/server-url.ts'
import { emptyKeys } from './subjects.ts'

/** A schedule that is always due. */
export const dueTask = (id: string) => ({ id, kind: 'every', spec: '1', nextRunAt: 0 }) as const

/** The stage of one file. */
export class RedisStage {
  readonly prefix: string
  url = ''
  #inspector: Redis | undefined
  readonly #stores: RedisStore[] = []

  /** Declares the hooks: keys are removed before each test, stores end with the file. */
  constructor(name: string) {
    // The server may be somebody's own, with keys of theirs.
    const prefix = `cronfence-test-${name}`
    this.prefix = prefix
    beforeAll(async () => {
      this.url = await serverUrl('redis')
      this.#inspector = new Redis(this.url)
    }, 300_000)
    beforeEach(() => emptyKeys(this.redis, prefix))
    afterAll(async () => {
      for (const store of this.#stores) await store.stop()
      await emptyKeys(this.redis, prefix)
      this.redis.disconnect()
    })
  }

  get redis(): Redis {
    if (!this.#inspector) throw new Error('the stage is not set yet')
    return this.#inspector
  }

  /** A store over the prefix, by its own client unless `options` say otherwise. */
  store(options: Partial<RedisStoreOptions> = {}): RedisStore {
    const source = options.client === undefined ? { url: this.url } : {}
    const common = { prefix: this.prefix, onWarning: () => {}, ...source }
    const store = new RedisStore({ ...common, ...options } as RedisStoreOptions)
    this.#stores.push(store)
    return store
  }

  key(rest: string): string {
    return `{${this.prefix}}:${rest}`
  }

  /** The fields of a task's key as they are. */
  fields(id: string): Promise<Record<string, string>> {
    return this.redis.hgetall(this.key(`sched:${id}`))
  }
}
