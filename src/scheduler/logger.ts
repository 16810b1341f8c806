// Log lines. What comes from outside, ids and the texts of errors, is shown with its control
// characters escaped, so that it can neither forge a line nor steer a terminal.

/** What is shown of an id, a spec; of an error and its stack. In UTF-16 units. */
const QUOTED_MAX = 1024
const ERROR_MAX = 16_384

/** Where log lines go. A `console` is one. */
export interface Logger {
  debug?(line: string): void
  info?(line: string): void
  warn(line: string): void
  error(line: string): void
}

/** Warnings and errors to the console; the rest stays silent. */
export const consoleLogger: Logger = {
  warn: (line) => console.warn(line),
  error: (line) => console.error(line),
}

/** A logger that never throws into the engine. */
export function guardedLogger(logger: Logger): Required<Logger> {
  const guarded = (level: keyof Logger) => (line: string) => {
    try {
      logger[level]?.(`cronfence: ${line}`)
    } catch {
      // A logger that fails has nowhere to say so, and must not stop a commit or a renewal.
    }
  }
  return {
    debug: guarded('debug'),
    info: guarded('info'),
    warn: guarded('warn'),
    error: guarded('error'),
  }
}

/** Text in quotes on one line; of a longer one than any id its start. */
export function quoted(text: string): string {
  return `"${escapeControls(startOf(text, QUOTED_MAX))}"`
}

/** An error with its stack, and its causes' messages. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return briefText(error)
  const stack = escapeControls(startOf(error.stack ?? briefText(error), ERROR_MAX))
  const cause = error.cause === undefined ? '' : ` (cause: ${briefText(error.cause)})`
  // Only the line breaks before the frames of a stack come back.
  return stack.replaceAll('\\u000a    at ', '\n    at ') + cause
}

/** An error's name and message on one line. */
export function briefText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : thrownText(error)
  return escapeControls(startOf(text, ERROR_MAX))
}

function thrownText(thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return 'something that has no text'
  }
}

function startOf(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}

/**
 * Controls, line and paragraph separators, lone surrogates, and what has no shape: it turns the
 * direction of text, or hides in it.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function escapeControls(text: string): string {
  return text.replace(CONTROLS, (char) => {
    const code = char.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}
