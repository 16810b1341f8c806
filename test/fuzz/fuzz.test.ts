// Every input of the corpus, and a short run of the fuzzer over each target. Hours of it:
// npm run fuzz -- --target all --minutes 60

import { describe, expect, test } from 'vitest'
import { readCorpus } from './corpus.ts'
import { fuzzGuided } from './guided.ts'
import { canary } from './targets/canary.ts'
import { TARGETS } from './targets/index.ts'

const SECONDS = 25
const SEED = 7

describe.each(Object.entries(TARGETS))('the target %s', (name, target) => {
  const inputs = [...new Set([...readCorpus(name), ...target.seeds])]

  test('takes every input of its corpus', async () => {
    expect(readCorpus(name).length).toBeGreaterThan(20)
    const findings: string[] = []
    for (const text of inputs) {
      try {
        await target.fuzz(text)
      } catch (error) {
        findings.push(`${JSON.stringify(text)}: ${error}`)
      }
    }
    expect(findings).toEqual([])
  })

  test(`shows no defect in ${SECONDS} s of guided fuzzing`, async () => {
    const outcome = await fuzzGuided({ name, target, seconds: SECONDS, seed: SEED })
    expect(outcome.finding, outcome.output).toBeUndefined()
    expect(outcome, outcome.output).toMatchObject({ ok: true })
    expect(outcome.inputs).toBeGreaterThan(inputs.length)
    expect(outcome.features).toBeGreaterThan(100)
  })
})

test('a defect behind branches of the core is found, and told with its text', async () => {
  const outcome = await fuzzGuided({ name: 'canary', target: canary, seconds: 60, seed: SEED })
  expect(outcome.ok).toBe(false)
  expect(outcome.output).toContain('the canary sings')
  expect(outcome.finding).toMatch(/^(.* )?(\d+|L)W /s)
})
