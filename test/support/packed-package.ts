// The package as npm would ship it, installed into a folder that has nothing else in it.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './command.ts'

/** The repository's root. */
export const ROOT = join(import.meta.dirname, '../..')

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, unknown>>
}

const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Every code entry of the package as users import it, e.g. `cronfence/engine`. */
export const ENTRIES = Object.keys(manifest.exports)
  .filter((path) => !path.endsWith('.json'))
  .map((path) => manifest.name + path.slice(1))

/** An empty folder with the package installed; `dispose()` deletes it. */
export interface PackedPackage {
  readonly tarball: string
  readonly folder: string
  /** Writes a file into the folder and returns its path. */
  write(name: string, text: string): string
  dispose(): void
}

/** Packs what was built and installs it; building is left to `npm test` or the caller. */
export function installPacked(): PackedPackage {
  const isBuilt = existsSync(join(ROOT, 'dist'))
  if (!isBuilt) throw new Error('Nothing is built: run `npm run build` first')
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-packed-'))
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: ROOT,
  })
  const tarball = join(folder, tarballName(packed))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts']
  run('npm', ['install', ...quiet, tarball], { cwd: folder })
  return {
    tarball,
    folder,
    write(name, text) {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** npm 12 and later answer an object by package name, earlier ones a list. */
function tarballName(packed: string): string {
  const answer: unknown = JSON.parse(packed)
  const [first] = Object.values(answer as Record<string, { filename: string }>)
  if (first === undefined) throw new Error(`npm pack answered: ${packed}`)
  return first.filename
}
