// Every regular expression of the shipped sources on long hostile texts. A linear one is done with
// all of them in a fraction of a second; one that backtracks by the square of a text's length would
// take minutes for a single one, and is cut off.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')
const LENGTH = 128 * 1024
/** For all texts. What is linear needs a hundredth of it on a slow machine. */
const CUT_OFF_MS = 20_000

/** What repeats, between what comes before and what comes last, which spoils a match. */
const UNITS = [
  ...[
    ' ',
    '\t',
    '\n',
    'a',
    'Z',
    '0',
    '1a',
    '1 a ',
    '1.',
    '.1',
    '.',
    '..',
    ',',
    '-',
    '-1',
    '/',
    '*',
  ],
  ...['=', '"', "'", '(', ')', ')-1', '#', 'L', 'L-', 'W ', 'W x', '_', ':', '+', '@', 'manual.'],
  ...['12:', 'T00-00-00', '\\', '\r', '\ud800', '\u202e', 'é', '😀', 'ERR ', 'nats://', ' *', '\0'],
]
const STARTS = ['', 'a', '0 0 * * ', 'H(', '"', 'TZ', '-', 'W ']
const ENDS = ['', '!', '\n', ' x']

const context = createContext({ UNITS, STARTS, ENDS, LENGTH })
runInContext(
  `const texts = UNITS.flatMap((unit) => {
    const long = unit.repeat(Math.ceil(LENGTH / unit.length))
    return STARTS.flatMap((start) => ENDS.map((end) => start + long + end))
  })
  const search = (regex) => { for (const text of texts) text.replace(regex, '') }`,
  context,
)

/** Throws when it is not done in time. */
function searchAll(regex: string, timeout: number): void {
  runInContext(`search(${regex})`, context, { timeout })
}

interface Found {
  readonly file: string
  /** As an expression of JavaScript. */
  readonly regex: string
}

/** Literals, and what is put together of the file's own constant texts. */
function regexesOf(file: string): Found[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true)
  const texts: string[] = []
  const found: Found[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) found.push({ file, regex: node.text })
    if (ts.isNewExpression(node) && node.expression.getText() === 'RegExp') {
      const regex = runInContext(
        `${texts.join('\n')}\n${node.getText()}.toString()`,
        createContext(),
      )
      found.push({ file, regex })
    }
    if (ts.isVariableDeclaration(node) && node.initializer?.getText().startsWith('String.raw')) {
      texts.push(`const ${node.getText()}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const files = ['src', 'bindings'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
)
const regexes = files.flatMap(regexesOf)
const distinct = [...new Map(regexes.map((each) => [each.regex, each])).values()]

describe('a regular expression', () => {
  test('is found wherever there is one', () => {
    expect(distinct.length).toBeGreaterThan(40)
    expect(regexes.filter(({ file }) => file === 'src/duration.ts')).toHaveLength(2)
  })

  test.each(distinct)('of $file is linear: $regex', ({ regex }) => {
    searchAll(regex, CUT_OFF_MS)
  })

  test.each([
    ['by the square', '/a+b/'],
    ['by the square, from the start', '/^(?:a|Z)*?(?:a)*!$/'],
    ['exponentially', '/^(a+)+$/'],
  ])('that backtracks %s is cut off', (_, regex) => {
    expect(() => searchAll(regex, 2000)).toThrow(/timed out/)
  })
})
