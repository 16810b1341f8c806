// The repository's files as the house rules see them: every file git knows or would add, its text,
// and for TypeScript what it imports and how long its functions are.

import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A file, by its path from the root with forward slashes. */
export interface SourceFile {
  readonly path: string
  readonly text: string
}

/** One import, export-from or dynamic import. */
export interface ImportedModule {
  readonly specifier: string
  readonly kind: 'value' | 'type' | 'dynamic'
}

/** A function's name (or where it is) and how many lines it spans. */
export interface MeasuredFunction {
  readonly name: string
  readonly lines: number
}

/** Reads every text file of the repository that is tracked or new, never what git ignores. */
export function repositoryFiles(root: string): SourceFile[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8' })
  return listed
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Whether the file is code that the rules of code apply to. */
export function isCode({ path }: SourceFile): boolean {
  return /^(assembly|bindings|src|test|bench|examples)\/.*\.ts$/.test(path)
}

/** Everything the file imports, in its order. */
export function importsOf(file: SourceFile): ImportedModule[] {
  const found: ImportedModule[] = []
  visit(parse(file), (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const from = node.moduleSpecifier
      if (from === undefined || !ts.isStringLiteral(from)) return
      found.push({ specifier: from.text, kind: isTypeOnly(node) ? 'type' : 'value' })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments
      if (target && ts.isStringLiteral(target)) {
        found.push({ specifier: target.text, kind: 'dynamic' })
      }
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const { literal } = node.argument
      if (ts.isStringLiteral(literal)) found.push({ specifier: literal.text, kind: 'type' })
    }
  })
  return found
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly
  const clause = node.importClause
  if (clause === undefined) return false
  if (clause.isTypeOnly) return true
  const named = clause.namedBindings
  return (
    clause.name === undefined &&
    named !== undefined &&
    ts.isNamedImports(named) &&
    named.elements.length > 0 &&
    named.elements.every((element) => element.isTypeOnly)
  )
}

/** Every string in the file's code that looks like a path to another file. */
export function mentionedPaths(file: SourceFile): string[] {
  const found: string[] = []
  visit(parse(file), (node) => {
    if (ts.isStringLiteralLike(node) && /^[\w./-]+\.ts$/.test(node.text)) found.push(node.text)
  })
  return found
}

/** Every function with a body, except those that only group tests. */
export function functionsOf(file: SourceFile): MeasuredFunction[] {
  const source = parse(file)
  const found: MeasuredFunction[] = []
  visit(source, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return
    if (isTestGroup(node)) return
    const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line
    const last = source.getLineAndCharacterOfPosition(node.getEnd()).line
    found.push({ name: nameOf(node, source), lines: last - first + 1 })
  })
  return found
}

function isTestGroup({ parent }: ts.Node): boolean {
  return ts.isCallExpression(parent) && /^(describe|suite)\b/.test(parent.expression.getText())
}

function nameOf(node: ts.SignatureDeclaration, source: ts.SourceFile): string {
  if (node.name) return node.name.getText(source)
  const { parent } = node
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return parent.name.getText(source)
  }
  if (ts.isConstructorDeclaration(node)) return 'constructor'
  return `line ${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`
}

const parsed = new WeakMap<SourceFile, ts.SourceFile>()

function parse(file: SourceFile): ts.SourceFile {
  let source = parsed.get(file)
  if (source === undefined) {
    source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true)
    parsed.set(file, source)
  }
  return source
}

function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}
