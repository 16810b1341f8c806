// The licences of all packages in the lock file: what is shipped must be permissive, and what it is
// made with must not bind what is made.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

interface LockedPackage {
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
}
type Packages = Readonly<Record<string, LockedPackage>>

const PERMISSIVE = [
  ...['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'BlueOak-1.0.0'],
  ...['CC0-1.0', 'Unlicense'],
]

/** Tools that are never part of what is shipped, and why their licence is none of its business. */
const TOOLS: Readonly<Record<string, RegExp>> = {
  // Binds changes to its own files; we change none.
  'MPL-2.0': /^node_modules\/lightningcss(-|$)/,
  // A table of browsers.
  'CC-BY-4.0': /^node_modules\/caniuse-lite$/,
}

/** What is wrong with the packages' licences, a line each. */
function complaints(packages: Packages, licenceOf: (path: string) => string | undefined) {
  const shipped = shippedPaths(packages)
  return Object.keys(packages).flatMap((path) => {
    if (path === '') return []
    const licence = licenceOf(path)
    const place = shipped.has(path) ? 'is shipped' : 'is a tool'
    if (licence === undefined) return [`${path} ${place}, and names no licence`]
    if (isPermissive(licence)) return []
    if (!shipped.has(path) && TOOLS[licence]?.test(path)) return []
    return [`${path} ${place}, and has the licence ${licence}; allowed: ${PERMISSIVE.join(', ')}`]
  })
}

/** An expression of SPDX, of which one alternative must be allowed in all its parts. */
function isPermissive(expression: string): boolean {
  const alternatives = expression.replaceAll(/[()]/g, '').split(' OR ')
  return alternatives.some((each) =>
    each.split(' AND ').every((licence) => PERMISSIVE.includes(licence.trim())),
  )
}

/** What an installation of the package brings along, drivers aside, which users choose. */
function shippedPaths(packages: Packages): Set<string> {
  const found = new Set<string>()
  const add = (from: string) => {
    for (const name of Object.keys(packages[from]?.dependencies ?? {})) {
      const path = resolved(packages, from, name)
      if (path === undefined || found.has(path)) continue
      found.add(path)
      add(path)
    }
  }
  add('')
  return found
}

/** The nearest one, as Node finds it. */
function resolved(packages: Packages, from: string, name: string): string | undefined {
  for (let folder = from; ; ) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`
    if (path in packages) return path
    if (folder === '') return undefined
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  }
}

/** As the lock file has it, else as the installed package says. */
function licenceOf(packages: Packages) {
  return (path: string): string | undefined => {
    const locked = packages[path]?.license
    if (locked !== undefined) return locked
    try {
      const manifest = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
      return typeof manifest.license === 'string' ? manifest.license : undefined
    } catch {
      return undefined // Not installed here.
    }
  }
}

test('every package in the lock file has a licence that is allowed where it is used', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const packages = lock.packages as Packages
  expect([...shippedPaths(packages)].sort()).toEqual([
    'node_modules/@lukeed/ms',
    'node_modules/cronstrue',
  ])
  expect(complaints(packages, licenceOf(packages)).join('\n')).toBe('')
})

describe('the check', () => {
  const check = (packages: Packages) => complaints(packages, (path) => packages[path]?.license)

  test.each([
    ['MIT', undefined],
    ['(MIT OR GPL-3.0-only)', undefined],
    ['MIT AND BSD-3-Clause', undefined],
    ['GPL-3.0-only', 'has the licence GPL-3.0-only'],
    ['MIT AND GPL-3.0-only', 'has the licence MIT AND GPL-3.0-only'],
    ['MPL-2.0', 'has the licence MPL-2.0'],
    ['SEE LICENSE IN LICENSE', 'has the licence SEE LICENSE'],
    ['', 'has the licence'],
    [undefined, 'names no licence'],
  ])('of a shipped package with %s', (license, says) => {
    const found = check({
      '': { dependencies: { a: '1' } },
      'node_modules/a': { dependencies: { b: '1' }, license: 'MIT' },
      'node_modules/a/node_modules/b': license === undefined ? {} : { license },
      'node_modules/b': { license: 'MIT' },
    })
    if (says === undefined) expect(found).toEqual([])
    else expect(found).toEqual([expect.stringMatching(new RegExp(`^\\S+b is shipped.*${says}`))])
  })

  test('lets a tool that is named have its own, and no other', () => {
    const license = 'MPL-2.0'
    expect(check({ 'node_modules/lightningcss': { license } })).toEqual([])
    expect(check({ 'node_modules/other': { license } })).toHaveLength(1)
    const shipped = { '': { dependencies: { lightningcss: '1' } } }
    expect(check({ ...shipped, 'node_modules/lightningcss': { license } })).toHaveLength(1)
  })
})
