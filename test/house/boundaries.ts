// Which folder may import which: STYLE's table as rows. The first row that fits a file counts.

import { posix } from 'node:path'
import { importsOf, type SourceFile } from './source.ts'

interface Boundary {
  /** The files the row is about. */
  readonly files: RegExp
  /** Our own files they may import as values. */
  readonly values: RegExp
  /** Our own files they may import as types, besides. */
  readonly types?: RegExp
  /** Packages and Node modules they may import as values; dynamic imports are always allowed. */
  readonly packages?: RegExp
  /** Our own files they may import dynamically, besides. */
  readonly dynamic?: RegExp
}

const NODE = /^node:/
const ANY_PACKAGE = /^/
const NOTHING = /(?!)/

const BASE = 'src/(errors|clock|duration|backoff)'

const BOUNDARIES: readonly Boundary[] = [
  { files: /^assembly\//, values: /^assembly\// },
  { files: /^bindings\//, values: /^(bindings\/|build\/core\.wasm$)/ },
  { files: new RegExp(`^${BASE}\\.ts$`), values: NOTHING, packages: /^[a-z@]/ },
  { files: /^src\/index\.ts$/, values: /^(bindings|src)\/(?!cli\/)/ },
  {
    files: /^src\/lease\//,
    values: new RegExp(`^(src/lease/|${BASE})`),
    types: /^src\/store\/store\.ts$/,
  },
  { files: /^src\/store\/store\.ts$/, values: NOTHING, types: /^src\/lease\// },
  // Files beside the contract are what the engines share; an engine never sees another one.
  {
    files: /^src\/store\/[^/]+\.ts$/,
    values: new RegExp(`^(src/store/[^/]+\\.ts$|src/lease/|${BASE})`),
  },
  ...['memory', 'sqlite', 'redis', 'postgres', 'mysql', 'mongo', 'nats'].map((engine) => ({
    files: new RegExp(`^src/store/${engine}/`),
    values: new RegExp(`^(src/store/[^/]+\\.ts$|src/store/${engine}/|src/lease/|${BASE})`),
    packages: NODE,
  })),
  {
    files: /^src\/scheduler\//,
    values: new RegExp(`^(src/scheduler/|src/lease/|bindings/|src/store/memory/|${BASE})`),
    types: /^src\/store\/store\.ts$/,
    packages: ANY_PACKAGE,
  },
  {
    files: /^src\/backend\//,
    values: new RegExp(`^(src/backend/|src/scheduler/|bindings/|${BASE})`),
    types: /^src\/store\/store\.ts$/,
  },
  {
    files: /^src\/testing\//,
    values: new RegExp(`^(src/testing/|src/store/[^/]+\\.ts$|src/lease/|${BASE})`),
    packages: ANY_PACKAGE,
  },
  {
    files: /^src\/cli\//,
    values: /^(src\/cli\/|bindings\/|src\/[^/]+\.ts$|src\/scheduler\/)/,
    types: /^src\/store\//,
    packages: ANY_PACKAGE,
    dynamic: /^src\/store\//,
  },
  { files: /^src\//, values: /^(bindings|src)\/(?!cli\/)/, packages: ANY_PACKAGE },
  // Benchmarks run on the servers of the tests.
  { files: /^bench\//, values: /^(bench|test\/support)\//, packages: ANY_PACKAGE },
  { files: /^examples\//, values: /^examples\//, packages: ANY_PACKAGE },
  { files: /^test\//, values: ANY_PACKAGE, packages: ANY_PACKAGE },
]

/** The core's main files from top to bottom: none imports one above itself. */
const CORE_ORDER = `
  index batch pool query parse item special hashed value macro names selection refusal days
  search resolve match years field cursor zone record calendar bits char abi status`
  .trim()
  .split(/\s+/)

/** Every import of the file that its folder does not allow. */
export function forbiddenImports(file: SourceFile): string[] {
  const boundary = BOUNDARIES.find(({ files }) => files.test(file.path))
  if (boundary === undefined) return []
  return importsOf(file).flatMap(({ specifier, kind }) => {
    if (!specifier.startsWith('.')) {
      const isAllowed = kind !== 'value' || (boundary.packages ?? NOTHING).test(specifier)
      return isAllowed ? [] : [`imports "${specifier}", which loads a package here`]
    }
    const target = posix.join(posix.dirname(file.path), specifier)
    const allowed = [
      boundary.values,
      kind === 'type' ? (boundary.types ?? NOTHING) : NOTHING,
      kind === 'dynamic' ? (boundary.dynamic ?? NOTHING) : NOTHING,
    ]
    if (!allowed.some((paths) => paths.test(target))) return [`imports ${target} (${kind})`]
    return isUpward(file.path, target) ? [`imports ${target}, which is above it`] : []
  })
}

function isUpward(from: string, to: string): boolean {
  const [above = -1, below = -1] = [from, to].map((path) => {
    const name = /^assembly\/([\w-]+)(\.ts)?$/.exec(path)?.[1]
    return name === undefined ? -1 : CORE_ORDER.indexOf(name)
  })
  return below >= 0 && above > below
}

/** Files that load each other in a circle, by each circle's last import. Types do not load. */
export function importCircles(files: readonly SourceFile[]): { path: string; target: string }[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const found: { path: string; target: string }[] = []
  const state = new Map<string, 'open' | 'done'>()

  const enter = (file: SourceFile) => {
    state.set(file.path, 'open')
    for (const { specifier, kind } of importsOf(file)) {
      if (kind !== 'value' || !specifier.startsWith('.')) continue
      const named = posix.join(posix.dirname(file.path), specifier)
      const target = byPath.get(named) ?? byPath.get(`${named}.ts`)
      if (target === undefined) continue
      const seen = state.get(target.path)
      if (seen === 'open') found.push({ path: file.path, target: target.path })
      else if (seen === undefined) enter(target)
    }
    state.set(file.path, 'done')
  }
  for (const file of files) if (!state.has(file.path)) enter(file)
  return found
}
