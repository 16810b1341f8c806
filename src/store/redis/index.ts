// Entry `cronfence/redis`. Importing it loads no driver.

export type {
  IoredisClient,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisSentinel,
  RedisClient,
} from './redis-client.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
