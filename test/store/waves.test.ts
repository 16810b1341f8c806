// Batches that one statement cannot take.

import { expect, it } from 'vitest'
import { BatchError, CronfenceError } from '../../src/errors.ts'
import { inWaves } from '../../src/store/waves.ts'

const ids = Array.from({ length: 2500 }, (_, index) => `task ${index}`)

/** Runs `items` in waves whose `failAt`-th fails; answers with the waves that were tried, too. */
async function run(items: readonly string[], failAt: number, failure: unknown) {
  const waves: number[] = []
  const answers: unknown = await inWaves(
    items,
    (id) => id,
    async (wave) => {
      waves.push(wave.length)
      if (waves.length === failAt) throw failure
      return wave.map((id) => `did ${id}`)
    },
  ).catch((error: unknown) => error)
  return { waves, answers }
}

const lost = new CronfenceError('STORE_OUTCOME_UNKNOWN', 'lost', { details: { driverCode: '1' } })

it('a batch goes in waves of a thousand, no id twice in one, and answers in order', async () => {
  expect(await run([...ids, 'task 2499'], 0, lost)).toEqual({
    waves: [1000, 1000, 500, 1],
    answers: [...ids, 'task 2499'].map((id) => `did ${id}`),
  })
})

it('a wave that fails does not take the answers of earlier ones with it', async () => {
  const { waves, answers } = await run(ids, 3, lost)
  expect(waves).toEqual([1000, 1000, 500])
  expect(answers).toBeInstanceOf(BatchError)
  expect(answers).toMatchObject({
    ...{ code: 'STORE_OUTCOME_UNKNOWN', message: 'lost', details: { driverCode: '1' } },
    ...{ cause: lost, answers: ids.slice(0, 2000).map((id) => `did ${id}`) },
  })
})

it('a wave that fails for some of its items has the answers of the others', async () => {
  const partial = new BatchError(lost, ['this one', lost])
  const { answers } = await run(ids, 2, partial)
  expect(answers).toBeInstanceOf(BatchError)
  expect(answers).toMatchObject({
    ...{ code: 'STORE_OUTCOME_UNKNOWN', cause: lost },
    answers: [...ids.slice(0, 1000).map((id) => `did ${id}`), 'this one', lost],
  })
})

it('a first wave that fails is all there is to tell', async () => {
  expect((await run(ids, 1, lost)).answers).toBe(lost)
})

it('what is no failure of the store comes out as it is', async () => {
  const bug = new TypeError('a bug')
  expect((await run(ids, 2, bug)).answers).toBe(bug)
})
