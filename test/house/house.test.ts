// The house rules (CONTRIBUTING.md) over this repository. What they see and say: rules.ts.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RATCHET } from './ratchet.ts'
import { complaints } from './rules.ts'
import { repositoryFiles } from './source.ts'

test('the repository keeps the house rules', () => {
  const files = repositoryFiles(join(import.meta.dirname, '../..'))
  const found = complaints(files, RATCHET).map(({ path, text }) => `${path}: ${text}`)
  expect(found.join('\n')).toBe('')
})
