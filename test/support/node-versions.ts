// Node binaries of the majors the package promises, from the npm packages that hold them. They are
// installed on demand, not as dev dependencies: 60 MB each, and one package per platform.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.ts'

/** The majors the package is tested on; the first is the oldest in `engines`. */
export const NODE_MAJORS = [20, 22, 24, 26] as const

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/cronfence')
const [CURRENT_MAJOR] = process.versions.node.split('.')

/** The path of a Node of this major: this process's own, one kept before, or one fetched now. */
export function nodeBinary(major: number): string {
  if (String(major) === CURRENT_MAJOR) return process.execPath
  const windows = process.platform === 'win32'
  const name = `node-${windows ? 'win' : process.platform}-${process.arch}`
  const folder = join(CACHE, `node-${major}`)
  const binary = join(folder, 'node_modules', name, 'bin', windows ? 'node.exe' : 'node')
  if (!existsSync(binary)) {
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts']
    run('npm', ['install', '--prefix', folder, ...options, `${name}@${major}`])
  }
  return binary
}
