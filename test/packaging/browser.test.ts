// The engine in a real Chromium, as a page loads it: a module script from a server, with and
// without a strict Content-Security-Policy. The page writes what it saw; the test reads it.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM_FLAGS, chromiumPath } from '../support/chromium.ts'
import { installPacked } from '../support/packed-package.ts'

/** The page's program. It must not rely on anything that Node adds. */
const PROGRAM = `
  import { CronBatch, parseCron, ready } from 'cronfence/engine'

  const attempt = (action) => {
    try {
      return { value: action() }
    } catch (error) {
      const { name, field, index } = error
      return { name, field, index, isType: error instanceof TypeError }
    }
  }
  const iso = (instants) => Array.from(instants, (instant) => new Date(instant).toISOString())

  await ready()
  const madrid = { timeZone: 'Europe/Madrid' }
  const from = Date.parse('2026-03-28T12:00:00Z')
  const batch = new CronBatch()
  const leapDay = batch.add('0 0 29 2 *', { timeZone: 'UTC' })
  const ids = Uint32Array.of(batch.add('30 2 * * *', madrid), leapDay)
  const cron = parseCron('30 2 * * *', madrid)
  const outcome = {
    gap: iso([cron.next(from)]),
    fold: iso(parseCron('*/30 2 * * *', madrid).between(
      Date.parse('2026-10-25T00:00Z'), Date.parse('2026-10-25T03:00Z'))),
    wildcard: iso(parseCron('30 */2 * * *', madrid).occurrences({ from, limit: 2 })),
    back: iso([cron.prev(Date.parse('2026-03-29T12:00Z'))]),
    batch: iso(batch.next(ids, Float64Array.of(from, from))).map((text) => text.slice(0, 10)),
    syntax: attempt(() => parseCron('0 25 * * *')),
    zone: attempt(() => parseCron('0 0 * * *', { timeZone: 'Mars/Olympus' })),
    afterErrors: iso([cron.next(from)]),
  }
  document.getElementById('outcome').textContent = JSON.stringify(outcome)
  document.body.dataset.done = 'yes'
`
const PAGE = `<!doctype html><meta charset="utf-8"><title>cronfence</title>
<body><pre id="outcome"></pre><script type="module" src="/page.js"></script>`

const POLICIES = [
  { policy: 'no policy', header: undefined },
  { policy: 'a strict policy', header: "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'" },
]

let browser: Browser
let server: Server
let header: string | undefined

beforeAll(async () => {
  const script = await bundled()
  server = createServer(({ url }, response) => {
    if (header !== undefined) response.setHeader('content-security-policy', header)
    if (url === '/') response.setHeader('content-type', 'text/html').end(PAGE)
    else if (url === '/page.js') response.setHeader('content-type', 'text/javascript').end(script)
    else response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  browser = await chromium.launch({ executablePath: chromiumPath(), args: [...CHROMIUM_FLAGS] })
})

afterAll(async () => {
  await browser?.close()
  await new Promise((resolve) => server.close(resolve))
})

describe.each(POLICIES)('a page under $policy', (row) => {
  test('loads the engine, gets right runs and clear errors, and logs nothing', async () => {
    header = row.header
    const page = await browser.newPage()
    const logged: string[] = []
    page.on('console', (message) => logged.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => logged.push(String(error)))
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page
      .waitForSelector('body[data-done]', { timeout: 20_000 })
      .catch((error: Error) => expect.fail(`${error.message}\n${logged.join('\n')}`))

    expect(JSON.parse((await page.textContent('#outcome')) ?? '')).toEqual({
      gap: ['2026-03-29T01:30:00.000Z'],
      fold: ['2026-10-25T00:00:00.000Z', '2026-10-25T00:30:00.000Z'],
      wildcard: ['2026-03-28T13:30:00.000Z', '2026-03-28T15:30:00.000Z'],
      back: ['2026-03-29T01:30:00.000Z'],
      batch: ['2026-03-29', '2028-02-29'],
      syntax: { name: 'CronSyntaxError', field: 'hour', index: 2, isType: true },
      zone: { name: 'RangeError', isType: false },
      afterErrors: ['2026-03-29T01:30:00.000Z'],
    })
    expect(logged).toEqual([])
    await page.close()
  })
})

async function bundled(): Promise<string> {
  const installed = installPacked()
  const result = await build({
    stdin: { contents: PROGRAM, resolveDir: installed.folder },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  })
  installed.dispose()
  return result.outputFiles[0]?.text ?? ''
}
