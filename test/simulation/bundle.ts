// Builds the simulation together with the engine into one file, for threads that know neither
// TypeScript nor Wasm imports, and for engines with a mutation: a piece of source that is replaced
// while it is built. Nothing of `dist` is read or written.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = join(import.meta.dirname, '../..')
const CACHE = join(ROOT, 'node_modules/.cache/cronfence/simulation')

/** A change of the engine's source that must not go unnoticed. */
export interface Mutation {
  /** From the root of the repository. */
  readonly file: string
  /** Occurs in the file exactly once, else the build fails: a mutation never does nothing. */
  readonly find: string
  readonly replace: string
}

/** The built file's address. `name` tells builds apart. */
export async function bundle(name: string, mutations: readonly Mutation[] = []): Promise<URL> {
  const outfile = join(CACHE, `${name}-${process.pid}.mjs`)
  const unused = new Set(mutations)
  await build({
    entryPoints: [join(ROOT, 'test/simulation/worker.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    plugins: [wasmAsHex, mutated(mutations, unused)],
  })
  const [first] = unused
  if (first) throw new Error(`${first.file} is not part of the engine`)
  return pathToFileURL(outfile)
}

const wasmAsHex: Plugin = {
  name: 'wasm-as-hex',
  setup({ onLoad }) {
    onLoad({ filter: /\.wasm$/ }, async ({ path }) => {
      return { contents: `export default '${await readFile(path, 'hex')}'` }
    })
  },
}

function mutated(mutations: readonly Mutation[], unused: Set<Mutation>): Plugin {
  return {
    name: 'mutated',
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path }) => {
        let contents = await readFile(path, 'utf8')
        for (const mutation of mutations) {
          if (join(ROOT, mutation.file) !== path) continue
          contents = replaced(contents, mutation)
          unused.delete(mutation)
        }
        return { contents, loader: 'ts' }
      })
    },
  }
}

function replaced(text: string, { file, find, replace }: Mutation): string {
  const parts = text.split(find)
  if (parts.length === 2) return parts.join(replace)
  throw new Error(`${file} has ${parts.length - 1} times what is to be replaced:\n${find}`)
}
