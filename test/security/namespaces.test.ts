// Namespaces: whatever they and the ids in them are called, no two tasks are stored as one, and
// none is seen in a namespace that is not its own.

import { expect, test } from 'vitest'
import { MemoryScheduleStore } from '../../src/index.ts'
import { checkNamespace, idInNamespace, storedId } from '../../src/scheduler/task-id.ts'
import { World } from '../scheduler/harness.ts'
import { HOSTILE } from '../store/security/hostile.ts'

const SEPARATOR = '\u001f'
const NAMESPACES = ['', ...HOSTILE.filter((text) => !text.includes(SEPARATOR))]
const IDS = [...HOSTILE.filter((_, i) => i % 5 === 0), SEPARATOR, `${SEPARATOR}a`, `a${SEPARATOR}b`]

/** As it is stored, unless both together are too long. */
function stored(namespace: string, id: string): string | undefined {
  const isLong = Buffer.byteLength(namespace) + Buffer.byteLength(id) + 1 > 1024
  return isLong ? undefined : storedId(namespace, id)
}

test('every namespace and id together have a stored id of their own', () => {
  const owners = new Map<string, [namespace: string, id: string]>()
  for (const namespace of NAMESPACES) {
    for (const id of IDS) {
      const key = stored(namespace, id)
      if (key === undefined) continue
      expect(owners.get(key)).toBeUndefined()
      owners.set(key, [namespace, id])
    }
  }
  expect(owners.size).toBeGreaterThan(20_000)
  for (const [key, [namespace, id]] of owners) {
    expect(idInNamespace(namespace, key)).toBe(id)
    expect(idInNamespace(`${namespace}x`, key)).toBeUndefined()
    if (namespace !== '') expect(idInNamespace('', key)).toBeUndefined()
  }
})

test('a namespace with the separator is refused', () => {
  for (const namespace of [SEPARATOR, `a${SEPARATOR}`, `${SEPARATOR}a`]) {
    expect(() => checkNamespace(namespace)).toThrow(/^namespace: must not contain U\+001F/)
  }
})

test('schedulers of hostile namespaces on one store run their own tasks only', async () => {
  const world = new World()
  const store = new MemoryScheduleStore()
  const names = ['', 'a', 'a ', 'A', "'; --", '__proto__', '\u202ea', 'a.b', 'a:b', '{a}']
  const runs: string[] = []
  const replicas = names.map((namespace, i) => {
    const replica = world.replica({ namespace, store })
    replica.every('1m', { id: 'same' }, () => void runs.push(`same ${i}`))
    replica.every('1m', { id: `own ${i}` }, () => void runs.push(`own ${i}`))
    return replica
  })
  const orphans: unknown[] = []
  for (const replica of replicas) {
    replica.on('orphans', (event) => orphans.push(event))
    await replica.start()
  }
  await world.clock.advance(61_000)
  await world.within(20_000, Promise.all(replicas.map((replica) => replica.stop())))
  const wanted = names.flatMap((_, i) => [`same ${i}`, `own ${i}`])
  expect(runs.sort()).toEqual(wanted.sort())
  expect(orphans).toEqual([])
})
