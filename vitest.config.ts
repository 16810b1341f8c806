import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Hands a `.wasm` import over as hexadecimal text, as the bundler does. */
const wasmAsHex = {
  name: 'wasm-as-hex',
  enforce: 'pre' as const,
  load(id: string) {
    if (!id.endsWith('.wasm')) return
    return `export default ${JSON.stringify(readFileSync(id, 'hex'))}`
  },
}

/** One project per kind of test: `unit` needs no server and no package; `slow` is the rest. */
const project = (name: string, include: string[], testTimeout: number) => ({
  plugins: [wasmAsHex],
  test: {
    name,
    include,
    testTimeout,
    hookTimeout: testTimeout,
    // Starts no server before a test asks for one.
    ...(name === 'unit' ? {} : { globalSetup: ['test/support/servers.ts'] }),
  },
})

export default defineConfig({
  test: {
    projects: [
      project(
        'unit',
        ['test/{core,lease,scheduler,backend,cli,house,security}/**/*.test.ts'],
        30_000,
      ),
      project('store', ['test/store/**/*.test.ts'], 60_000),
      project('slow', ['test/{packaging,chaos,simulation,fuzz}/**/*.test.ts'], 300_000),
    ],
  },
})
