// What an entry costs those who import it: nothing until it is used, and little then.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { ENTRIES, installPacked, ROOT } from '../support/packed-package.ts'

const KB = 1024
const WASM_BYTES_MAX = 16 * KB
const ENGINE_GZIP_BYTES_MAX = 15 * KB

const installed = installPacked()
afterAll(() => installed.dispose())

/** Bundles a program as a page would get it; imports of packages and of Node stay visible. */
async function bundle(contents: string) {
  const result = await build({
    stdin: { contents, resolveDir: installed.folder },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    external: ['node:*'],
    write: false,
    metafile: true,
    logOverride: { 'ignored-bare-import': 'silent' },
  })
  const [output] = Object.values(result.metafile.outputs)
  return { text: result.outputFiles[0]?.text ?? '', imports: output?.imports ?? [] }
}

/** Counts what an import sets going, then prints it with what it left open. */
const WATCH = `
  const seen = []
  const watch = (owner, name) => {
    const original = owner[name]
    owner[name] = new Proxy(original, {
      apply(target, self, args) { seen.push(name); return Reflect.apply(target, self, args) },
      construct(target, args) { seen.push('new ' + name); return Reflect.construct(target, args) },
    })
  }
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch', 'atob']) {
    watch(globalThis, name)
  }
  for (const name of ['Module', 'Instance', 'Memory', 'compile', 'instantiate']) {
    watch(WebAssembly, name)
  }
  watch(Intl, 'DateTimeFormat')
  watch(Date, 'now')
  for (const name of ['on', 'once', 'addListener']) watch(process, name)
  const names = Object.getOwnPropertyNames(globalThis).length
  const handles = process.getActiveResourcesInfo().length
  await import(process.argv[2])
  const globals = Object.getOwnPropertyNames(globalThis).length - names
  const opened = process.getActiveResourcesInfo().slice(handles)
  console.log(JSON.stringify({ seen, globals, opened }))
`

describe.each(ENTRIES)('importing %s', (entry) => {
  test('does nothing: no timer, no handle, no Wasm, no global', () => {
    const program = installed.write('watch.mjs', WATCH)
    const heard = run(process.execPath, [program, entry])
    expect(JSON.parse(heard)).toEqual({ seen: [], globals: 0, opened: [] })
  })

  test('leaves nothing in a bundle that does not use it', async () => {
    const { text } = await bundle(`import '${entry}'`)
    expect(text.trim()).toBe('')
  })
})

describe('the engine entry', () => {
  test('imports nothing, neither from Node nor from a package', async () => {
    const { text, imports } = await bundle(`export * from 'cronfence/engine'`)
    expect(imports).toEqual([])
    expect(text).not.toMatch(/\brequire\(|\bnode:|\bprocess\.|\bBuffer\./)
  })

  test('is at most 15 KB gzipped, its Wasm included', async () => {
    const { text } = await bundle(`export * from 'cronfence/engine'`)
    expect(text).toContain('0061736d') // the first bytes of a Wasm module
    expect(gzipSync(text, { level: 9 }).length).toBeLessThanOrEqual(ENGINE_GZIP_BYTES_MAX)
  })

  test('holds a Wasm module of at most 16 KB', () => {
    const { size } = statSync(join(ROOT, 'build/core.wasm'))
    expect(size).toBeLessThanOrEqual(WASM_BYTES_MAX)
  })
})

describe('the package', () => {
  test('declares itself free of side effects', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(manifest.sideEffects).toBe(false)
  })
})
