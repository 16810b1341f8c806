// The packed package in an empty folder, from ESM, CommonJS and TypeScript, on each promised Node.

import { join } from 'node:path'
import { publint } from 'publint'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { NODE_MAJORS, nodeBinary } from '../support/node-versions.ts'
import { ENTRIES, installPacked, ROOT } from '../support/packed-package.ts'

const installed = installPacked()
afterAll(() => installed.dispose())

// 02:30 does not exist on this day in Madrid, so the run moves to 03:30 there.
const USE = `
  const cron = engine.parseCron('30 2 * * *', { timeZone: 'Europe/Madrid' })
  const batch = new engine.CronBatch()
  const id = batch.add('30 2 * * *', { timeZone: 'Europe/Madrid' })
  const from = Date.parse('2026-03-28T12:00:00Z')
  console.log(cron.next(from).toISOString())
  console.log(new Date(batch.next(Uint32Array.of(id), Float64Array.of(from))[0]).toISOString())
`
const USED = '2026-03-29T01:30:00.000Z\n2026-03-29T01:30:00.000Z\n'

const FORMS = [
  {
    form: 'ESM',
    file: 'use.mjs',
    text: `${ENTRIES.map((entry) => `import '${entry}'\n`).join('')}
      import * as engine from 'cronfence/engine'\n${USE}`,
  },
  {
    form: 'CommonJS',
    file: 'use.cjs',
    text: `${ENTRIES.map((entry) => `require('${entry}')\n`).join('')}
      const engine = require('cronfence/engine')\n${USE}`,
  },
]

describe.each(NODE_MAJORS)('on Node %i', (major) => {
  test.each(FORMS)('every entry loads and the engine runs from $form', ({ file, text }) => {
    expect(run(nodeBinary(major), [installed.write(file, text)])).toBe(USED)
  })
})

const ENGINE_TYPES = `
  import { CronBatch, type CronExpression, parseCron } from 'cronfence/engine'
  const cron: CronExpression = parseCron('0 9 * * 1-5', { timeZone: 'Europe/Madrid', fold: 'both' })
  export const next: Date | null = cron.next(Date.now())
  export const runs: Float64Array = new CronBatch().next(Uint32Array.of(0), Float64Array.of(0))
  // @ts-expect-error the choices are spelled out in the types
  parseCron('* * * * *', { gap: 'jump' })
`
const ALL_TYPES = ENTRIES.map((entry, at) => `export * as entry${at} from '${entry}'\n`).join('')

describe('types', () => {
  test.each([
    { name: 'nodenext-esm', module: 'nodenext', file: 'use.mts' },
    { name: 'nodenext-cjs', module: 'nodenext', file: 'use.cts' },
    { name: 'bundler', module: 'esnext', moduleResolution: 'bundler', file: 'use.ts' },
  ])('check under $name', ({ name, file, ...resolution }) => {
    // The engine's types stand on ES2022 alone; other entries may speak of what hosts provide.
    const cases = [
      { part: `engine-${file}`, text: ENGINE_TYPES, lib: ['es2022'] },
      { part: `all-${file}`, text: ALL_TYPES, lib: ['es2022', 'dom'] },
    ]
    for (const { part, text, lib } of cases) {
      installed.write(part, text)
      const target = 'es2022'
      const checks = { strict: true, noEmit: true, types: [], target, lib }
      const compilerOptions = { ...resolution, ...checks }
      const project = installed.write(
        `tsconfig.${name}.json`,
        JSON.stringify({ compilerOptions, files: [part] }),
      )
      run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project])
    }
  })
})

describe('linters of packages', () => {
  test('publint finds nothing, not even a suggestion', async () => {
    const pkgDir = join(installed.folder, 'node_modules/cronfence')
    const { messages } = await publint({ pkgDir, strict: true, pack: false })
    expect(messages).toEqual([])
  })

  test('arethetypeswrong finds nothing', () => {
    const cli = join(ROOT, 'node_modules/@arethetypeswrong/cli/dist/index.js')
    run(process.execPath, [cli, installed.tarball, '--no-emoji'])
  })
})
