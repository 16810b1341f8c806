// What a store has to say that is no answer to a call: damaged rows, weak settings of a server.

import type { CronfenceError } from '../errors.ts'

/** Tells of a row only once: `list` comes by every few seconds. */
export function oncePerRow(tell: (error: CronfenceError) => void): (error: CronfenceError) => void {
  const told = new Set<string>()
  return (error) => {
    if (told.has(error.message)) return
    told.add(error.message)
    tell(error)
  }
}

/** Tells the process, for want of anybody who listens. */
export function warn(warning: CronfenceError | string): void {
  if (typeof warning === 'string') process.emitWarning(warning)
  else process.emitWarning(warning.message, { code: warning.code })
}
