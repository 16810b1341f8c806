// node:sqlite against the contract, in the Nodes that have it. They read TypeScript by themselves.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { leaseProviderCases, scheduleStoreCases } from '../../src/testing/index.ts'
import { NODE_MAJORS, nodeBinary } from '../support/node-versions.ts'
import { memoryLeases, memorySuite, scratch } from './subjects.ts'

const CLAIMER = join(import.meta.dirname, 'processes/claimer.ts')
const SUITE = join(import.meta.dirname, 'processes/suite.ts')
const count = [...scheduleStoreCases(memorySuite), ...leaseProviderCases(memoryLeases)].length

describe('node:sqlite', () => {
  // better-sqlite3 is installed for the Node that runs the tests and cannot be loaded in another.
  it('stands in where better-sqlite3 does not work', { timeout: 180_000 }, async () => {
    const { file, remove } = scratch()
    const { stdout } = await promisify(execFile)(nodeBinary(24), [CLAIMER, file, '1000', '2'])
    remove()
    expect(stdout).toBe('ready\n1\n2\n')
  })

  for (const major of NODE_MAJORS.filter((each) => each >= 22)) {
    it(`passes the suite in Node ${major}`, { timeout: 180_000 }, async () => {
      const flags = ['--disable-warning=ExperimentalWarning']
      const { stdout } = await promisify(execFile)(nodeBinary(major), [
        ...flags,
        SUITE,
        'node:sqlite',
      ]).catch((error: { stdout: string }) => error)
      expect(stdout).toBe(`${count} cases\n`)
    })
  }
})
