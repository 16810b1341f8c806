// Finds a Chromium for the browser tests, and gets Debian's package where it may. It never answers
// "there is none, skip it": a machine without a browser fails and is told how to get one.

import { existsSync } from 'node:fs'
import { run } from './command.ts'

const USUAL_PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** What keeps a browser of a test quiet: no display, no sandbox (root), no traffic of its own. */
export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
] as const

/** The path of a Chromium: `CHROMIUM_PATH`, an installed one, or the package installed just now. */
export function chromiumPath(): string {
  const named = process.env.CHROMIUM_PATH
  if (named !== undefined) {
    if (existsSync(named)) return named
    throw new Error(`CHROMIUM_PATH names no file: ${named}`)
  }
  return installedPath() ?? install()
}

function installedPath() {
  return USUAL_PATHS.find((path) => existsSync(path))
}

function install(): string {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(
      'No Chromium found. Install one (Debian: apt-get install chromium), ' +
        'or name it in CHROMIUM_PATH.',
    )
  }
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  run('apt-get', ['update'], { env })
  run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { env })
  const path = installedPath()
  if (path === undefined) throw new Error('apt-get installed chromium, yet no browser is in place')
  return path
}
