// The targets by their names on the command line.

import type { Target } from '../target.ts'
import { cli } from './cli.ts'
import { engine } from './engine.ts'
import { parser } from './parser.ts'
import { rows } from './rows.ts'
import { text } from './text.ts'

/** What is fuzzed. `canary`, which has a defect, is for the test of the fuzzer. */
export const TARGETS: Readonly<Record<string, Target>> = { parser, cli, text, rows, engine }
