// Runs the conformance suite on SQLite with the driver named in the first argument, in the Node
// that runs this file, without a test runner. Prints what failed and how many cases there were.

import type { SqliteDriver } from '../../../src/store/sqlite/index.ts'
import { leaseProviderCases, scheduleStoreCases } from '../../../src/testing/index.ts'
import { sqliteLeases, sqliteSuite } from '../subjects.ts'

const driver = process.argv[2] as SqliteDriver
const cases = [
  ...scheduleStoreCases(sqliteSuite(driver)),
  ...leaseProviderCases(sqliteLeases(driver)),
]
for (const { group, name, run } of cases) {
  try {
    await run()
  } catch (error) {
    console.log(`${group}: ${name}: ${error}`)
    process.exitCode = 1
  }
}
console.log(`${cases.length} cases`)
