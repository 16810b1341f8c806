import { resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'

/** The entries users import; `package.json` exports each of them. */
const entry = {
  index: 'src/index.ts',
  engine: 'bindings/index.ts',
  describe: 'src/describe.ts',
  sqlite: 'src/store/sqlite/index.ts',
  postgres: 'src/store/postgres/index.ts',
  mysql: 'src/store/mysql/index.ts',
  nats: 'src/nats.ts',
  lite: 'src/backend/lite.ts',
  testing: 'src/testing/index.ts',
}

const common = {
  splitting: true,
  treeshake: true,
  target: 'es2022',
  external: [/^node:/],
  loader: { '.wasm': 'base64' },
} satisfies Options

/** The program imports the library as it is built here, rather than carry a second copy of it. */
const builtLibrary: NonNullable<Options['esbuildPlugins']>[number] = {
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
    esbuildPlugins: [builtLibrary],
  },
])
