// Where a test finds a server: the one named in the environment, else the one of this run.

import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `servers.ts` hands out the URLs of shared servers. */
    servers: string
  }
}

const VARIABLES: Readonly<Record<string, string>> = {
  postgres: 'CRONFENCE_TEST_POSTGRES_URL',
  mariadb: 'CRONFENCE_TEST_MYSQL_URL',
  mongo: 'CRONFENCE_TEST_MONGO_URL',
  redis: 'CRONFENCE_TEST_REDIS_URL',
  'redis-cluster': 'CRONFENCE_TEST_REDIS_CLUSTER_URL',
}

/** The URL of a server, started now if it is the first time that it is asked for. */
export async function serverUrl(name: string): Promise<string> {
  const named = process.env[VARIABLES[name] ?? '']
  if (named) return named
  const response = await fetch(`${inject('servers')}/${name}`)
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}
