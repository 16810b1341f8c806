// The house rules, each a function from files to complaints. Rules look at text and imports only;
// what needs judgement is left to readers.

import { posix } from 'node:path'
import { forbiddenImports, importCircles } from './boundaries.ts'
import { functionsOf, importsOf, isCode, mentionedPaths, type SourceFile } from './source.ts'

/** A broken rule: where, and what to do instead. */
export interface Complaint {
  readonly path: string
  readonly text: string
}

/** Known exceptions. An entry may only go down; one that is no longer needed is a complaint. */
export interface Ratchet {
  /** Lines a file above 300 may have, never above 500. */
  readonly fileLines: Readonly<Record<string, number>>
  /** Lines a function above 70 may have, by `path#name`. */
  readonly functionLines: Readonly<Record<string, number>>
}

const LINE_COLUMNS_MAX = 100
const FILE_LINES_SOFT = 300
const FILE_LINES_MAX = 500
const FUNCTION_LINES_MAX = 70

/** Words with a better one. Only those that have no other honest use in this code are here. */
const WORDS: readonly { readonly word: RegExp; readonly say: string }[] = [
  { word: /(?<!clock )\b[Tt]imestamps?\b/, say: 'instant' },
  { word: /\b(local|dst) times?\b/i, say: 'wall time' },
  { word: /\bdst (switch|change)/i, say: 'transition' },
  { word: /\bfire times?\b/i, say: 'slot' },
  { word: /\bmisfires?\b/i, say: 'missed' },
  { word: /\bback ?fill/i, say: 'catch-up' },
  { word: /\bjobs?\b/i, say: 'task' },
]

/** Peers of a benchmark speak their makers' language: names of methods and options. */
const FOREIGN = /^bench\/engine\/peers\//

/** A quoted name: an id in a test, a key of somebody else's; data, not our words. */
const NAMED_DATA = /(['"`])[\w:.-]+\1/g

const FILE_NAMES = /(^|\/)(helpers?|utils?|common|misc)(\.|\/|$)/
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config|d))?\.ts$/
const UNNUMBERED_TODO = /\b(TODO|FIXME|XXX)\b(?!.*(#\d|issue \d))/
const MACHINE_PATH = /(^|[\s"'`(=:])\/(home|Users|root|tmp|work)\/\w/
const REGISTRY_HOST = /https?:\/\/[\w.-]*(registry|npmjs|npmmirror|yarnpkg|jfrog|artifactory)/i

/** Runs every rule over the files of a repository. */
export function complaints(files: readonly SourceFile[], ratchet: Ratchet): Complaint[] {
  // The house itself names what it forbids.
  const code = files.filter((file) => isCode(file) && !file.path.startsWith('test/house/'))
  return [
    ...files.flatMap((file) => prefixed(file, [...machineTraces(file)])),
    ...code.flatMap((file) =>
      prefixed(file, [
        ...fileName(file),
        ...opening(file),
        ...lineRules(file),
        ...fileLength(file, ratchet),
        ...functionLengths(file, ratchet),
        ...forbiddenImports(file),
      ]),
    ),
    ...unusedFiles(files),
    ...importCircles(code).map(({ path, target }) => ({
      path,
      text: `imports ${target}, which already leads back here`,
    })),
    ...staleEntries(files, ratchet),
  ]
}

function prefixed({ path }: SourceFile, texts: readonly string[]): Complaint[] {
  return texts.map((text) => ({ path, text }))
}

/** Paths of one machine and addresses of registries, the lock file included. */
function* machineTraces({ path, text }: SourceFile) {
  if (path.startsWith('test/house/') || path.endsWith('.jsonl')) return
  for (const [at, line] of text.split('\n').entries()) {
    if (MACHINE_PATH.test(line)) yield `line ${at + 1} names a path of one machine`
    if (REGISTRY_HOST.test(line)) yield `line ${at + 1} names a registry's host`
  }
}

function* fileName({ path }: SourceFile) {
  if (FILE_NAMES.test(path)) yield 'is named after no idea; say what it holds'
  if (!KEBAB_CASE.test(posix.basename(path))) yield 'is not named in kebab-case'
}

function* opening({ text }: SourceFile) {
  const start = text.replace(/^#!.*\n/, '')
  if (!/^\/[/*]/.test(start)) yield 'does not open with a comment that says what it is for'
}

function* lineRules({ path, text }: SourceFile) {
  for (const [at, line] of text.split('\n').entries()) {
    const where = `line ${at + 1}`
    if (line.length > LINE_COLUMNS_MAX) {
      yield `${where} has ${line.length} columns; ${LINE_COLUMNS_MAX} are allowed`
    }
    if (UNNUMBERED_TODO.test(line)) yield `${where} has a TODO without the number of an issue`
    if (FOREIGN.test(path)) continue
    const words = line
      .replace(NAMED_DATA, '')
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .replace(/_/g, ' ')
    for (const { word, say } of WORDS) {
      const [found] = word.exec(words) ?? []
      if (found !== undefined) yield `${where} says "${found}"; say "${say}"`
    }
  }
}

function* fileLength(file: SourceFile, { fileLines }: Ratchet) {
  const lines = lineCount(file)
  const allowed = fileLines[file.path] ?? FILE_LINES_SOFT
  if (lines > Math.min(allowed, FILE_LINES_MAX)) {
    yield `has ${lines} lines; ${allowed} are allowed here, and ${FILE_LINES_MAX} anywhere`
  }
}

function* functionLengths(file: SourceFile, { functionLines }: Ratchet) {
  for (const { name, lines } of functionsOf(file)) {
    const allowed = functionLines[`${file.path}#${name}`] ?? FUNCTION_LINES_MAX
    if (lines > allowed) yield `${name} has ${lines} lines; ${allowed} are allowed`
  }
}

/** Code that nothing imports, names in a string, or starts from a configuration. */
function unusedFiles(files: readonly SourceFile[]): Complaint[] {
  const used = new Set<string>()
  const configurations: string[] = []
  for (const file of files) {
    const { path, text } = file
    if (/^[^/]*\.(json|config\.ts)$/.test(path)) configurations.push(text)
    if (!isCode(file)) continue
    const named = [...importsOf(file).map(({ specifier }) => specifier), ...mentionedPaths(file)]
    for (const name of named) {
      const target = posix.join(posix.dirname(path), name)
      used.add(target.endsWith('.ts') ? target : `${target}.ts`)
    }
  }
  const isRoot = ({ path }: SourceFile) =>
    /(\.test|\.d)\.ts$/.test(path) ||
    path.startsWith('examples/') ||
    configurations.some((text) => text.includes(path))
  return files
    .filter((file) => isCode(file) && !used.has(file.path) && !isRoot(file))
    .map(({ path }) => ({ path, text: 'is imported by nobody' }))
}

/** Entries of the ratchet that are no longer needed: what was mended stays mended. */
function staleEntries(files: readonly SourceFile[], ratchet: Ratchet): Complaint[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const stale: string[] = []
  for (const path of Object.keys(ratchet.fileLines)) {
    const file = byPath.get(path)
    if (file === undefined || lineCount(file) <= FILE_LINES_SOFT) stale.push(path)
  }
  for (const entry of Object.keys(ratchet.functionLines)) {
    const [path = '', name] = entry.split('#')
    const file = byPath.get(path)
    const measured = file ? functionsOf(file) : []
    const isLong = measured.some((one) => one.name === name && one.lines > FUNCTION_LINES_MAX)
    if (!isLong) stale.push(entry)
  }
  return stale.map((path) => ({ path, text: 'needs no entry in the ratchet any more: remove it' }))
}

function lineCount({ text }: SourceFile): number {
  return text.replace(/\n$/, '').split('\n').length
}
