// The compose file, which no test can run: its lines of the environment name what the tests read,
// and lead to a port of the server that they say.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const TEST = join(import.meta.dirname, '..')
const COMPOSE = readFileSync(join(TEST, 'compose.yaml'), 'utf8')

/** A service of the file: its name and its lines. */
const SERVICES = [...COMPOSE.matchAll(/^ {2}(\w+):\n((?: {4}.*\n)+)/gm)].map(([, name, text]) => ({
  name,
  text: text ?? '',
}))

/** Variable and URL of each line. */
const LINES = [...COMPOSE.matchAll(/^# +export (\w+)=(\S+)/gm)].map(([, variable, url]) => {
  return { variable: variable ?? '', url: new URL(url ?? '') }
})

/** The images that a protocol may lead to. */
const IMAGES: Record<string, RegExp> = {
  'postgres:': /^postgres:/,
  'mysql:': /^(mysql|mariadb):/,
  'redis:': /^redis:/,
  'mongodb:': /^mongo:/,
  'nats:': /^nats:/,
}

const imageOf = (text: string) => /^ {4}image: (\S+)$/m.exec(text)?.[1]

it('every variable that names a server is in the compose file, except the cluster', () => {
  const support = join(TEST, 'support')
  const texts = readdirSync(support).map((file) => readFileSync(join(support, file), 'utf8'))
  const read = texts.join('\n').match(/CRONFENCE_TEST_\w+_URL/g) ?? []
  const named = LINES.map(({ variable }) => variable)
  const expected = read.filter((name) => name !== 'CRONFENCE_TEST_REDIS_CLUSTER_URL')
  expect([...new Set(named)].sort()).toEqual([...new Set(expected)].sort())
})

it('every service has a line of its own', () => {
  expect(LINES).toHaveLength(SERVICES.length)
})

it.each(LINES)('$variable=$url leads to its server', ({ url }) => {
  const served = SERVICES.filter(({ text }) => text.includes(`["127.0.0.1:${url.port}:`))
  expect(served).toHaveLength(1)
  const [{ text } = { text: '' }] = served
  expect(imageOf(text)).toMatch(IMAGES[url.protocol] ?? /(?!)/)
  expect(text).toContain(url.password)
})

describe.each(SERVICES)('the service $name', ({ text }) => {
  it('is published on the loopback interface only, under a fixed version', () => {
    const published = text.match(/^ {4}ports: .*$/gm) ?? []
    expect(published).toEqual([expect.stringMatching(/^ {4}ports: \["127\.0\.0\.1:\d+:\d+"\]$/)])
    expect(imageOf(text)).toMatch(/^\w+:\d+(\.\d+)?$/)
  })
})
