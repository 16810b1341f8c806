// A target as one CommonJS file whose every branch the fuzzer can see: our sources, and the core,
// which is Wasm, put back into JavaScript by binaryen's wasm2js. Packages stay outside, unseen.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')
/** Inside node_modules, where the packages are found from. */
const CACHE = join(ROOT, 'node_modules/.cache/cronfence/fuzz')
const require = createRequire(import.meta.url)

/** Builds the target and returns the file's path. */
export async function buildTarget(name: string): Promise<string> {
  mkdirSync(CACHE, { recursive: true })
  const outfile = join(CACHE, `${name}.cjs`)
  await build({
    stdin: {
      contents:
        `import { ${name} } from './targets/${name}.ts'\n` +
        `export const fuzz = (data) => ${name}.fuzz(data.toString())`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'es2022',
    packages: 'external',
    sourcemap: 'inline',
    sourcesContent: false,
    outfile,
    plugins: [coreInJavaScript],
    logLevel: 'warning',
  })
  return outfile
}

/** Our code finds a namespace that compiles nothing and instantiates the core as JavaScript. */
const coreInJavaScript: Plugin = {
  name: 'core-in-javascript',
  setup({ onLoad }) {
    onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: `${instantiateText(path)}
        globalThis.WebAssembly = {
          Module: class {},
          Instance: class { exports = instantiate() },
        }
        export default ''`,
    }))
  },
}

/** `instantiate`: every instance has variables of its own, as the module's are not. */
function instantiateText(path: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-fuzz-'))
  try {
    const [aligned, out] = [join(folder, 'core.wasm'), join(folder, 'core.js')]
    // Left to itself, wasm2js reads where the next multiple of a number's size would be.
    binaryen('wasm-opt', [path, '-all', '--dealign', '-o', aligned])
    binaryen('wasm2js', [aligned, '-all', '-o', out])
    const text = readFileSync(out, 'utf8')
      .replaceAll(/^export var .*$/gm, '')
      // Memory that grew empties the views on it; here that has to be said.
      .replace('buffer = newBuffer', 'structuredClone(buffer, { transfer: [buffer] });$&')
    return `function instantiate() {\n${text}\nreturn retasmFunc\n}`
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function binaryen(tool: string, args: readonly string[]): void {
  const path = join(require.resolve('binaryen/package.json'), '../bin', tool)
  const { status, stderr } = spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${tool}: ${stderr}`)
}
