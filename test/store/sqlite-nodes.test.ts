// node:sqlite against the contract, in the Nodes that have it. They read TypeScript by themselves.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { leaseProviderCases, scheduleStoreCases } from '../../src/testing/index.ts'
import { NODE_MAJORS, nodeBinary } from '../support/node-versions.ts'
import { memoryLeases, memorySuite } from './subjects.ts'

const SUITE = join(import.meta.dirname, 'processes/suite.ts')
const count = [...scheduleStoreCases(memorySuite), ...leaseProviderCases(memoryLeases)].length

describe('node:sqlite', () => {
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
