import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number]

/** The entries users import; `package.json` exports each of them. */
const entry = {
  index: 'src/index.ts',
  engine: 'bindings/index.ts',
  describe: 'src/describe.ts',
  sqlite: 'src/store/sqlite/index.ts',
  redis: 'src/store/redis/index.ts',
  postgres: 'src/store/postgres/index.ts',
  mysql: 'src/store/mysql/index.ts',
  mongo: 'src/store/mongo/index.ts',
  nats: 'src/nats.ts',
  lite: 'src/backend/lite.ts',
  testing: 'src/testing/index.ts',
}

/**
 * Embeds the core as hexadecimal text: of all encodings in ASCII the one that compresses best, since
 * a byte stays a unit, as it does not in base64.
 */
export const wasmAsHex: EsbuildPlugin = {
  name: 'wasm-as-hex',
  setup({ onLoad }) {
    onLoad({ filter: /\.wasm$/ }, async ({ path }) => {
      return { contents: `export default '${await readFile(path, 'hex')}'` }
    })
  },
}

const common = {
  splitting: true,
  treeshake: true,
  target: 'es2022',
  external: [/^node:/],
  removeNodeProtocol: false,
  esbuildPlugins: [wasmAsHex],
} satisfies Options

/** The program imports the library as it is built here, rather than carry a second copy of it. */
const builtLibrary: EsbuildPlugin = {
  name: 'built-library',
  setup({ onResolve }) {
    const built = new Map(
      Object.entries(entry).map(([name, source]) => [resolve(source), `../${name}.js`]),
    )
    onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
      const file = built.get(resolve(resolveDir, path))
      return file === undefined ? undefined : { path: file, external: true }
    })
  },
}

export default defineConfig([
  {
    ...common,
    entry,
    format: ['esm', 'cjs'],
    dts: true,
    clean: ['!cli'],
    platform: 'neutral',
  },
  {
    ...common,
    entry: { main: 'src/cli/main.ts' },
    outDir: 'dist/cli',
    format: 'esm',
    clean: true,
    platform: 'node',
    esbuildPlugins: [wasmAsHex, builtLibrary],
  },
])
