// The arguments of the commands that check and measure: simulate, chaos, fuzz, bench:engine. What
// is wrong with them is one line on stderr, and exit code 2.

import { type ParseArgsConfig, parseArgs } from 'node:util'

/** The values of these options; ends the process when there are others, or one lacks its value. */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
) {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    const [line = ''] = (error as Error).message.split('\n')
    return misuse(`${line}; there are --${Object.keys(options).join(', --')}`)
  }
}

/** Says what is wrong, and ends the process. */
export function misuse(text: string): never {
  console.error(text)
  process.exit(2)
}
