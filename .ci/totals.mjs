// Prints the totals of a vitest report as CI's last line, and exits non-zero when anything failed.
// What failed before or beside the tests (install, lint, a file that would not load) counts too.

import { readFileSync } from 'node:fs'

const [path, status] = process.argv.slice(2)
const text = readFileSync(path, 'utf8')
const report = text ? JSON.parse(text) : { testResults: [] }

const tests = report.testResults.flatMap((file) => file.assertionResults)
const count = (...states) => tests.filter((test) => states.includes(test.status)).length
const brokenFiles = report.testResults.filter(
  (file) =>
    file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
)

const passed = count('passed')
const skipped = count('skipped', 'pending', 'todo', 'disabled')
let failed = count('failed') + brokenFiles.length
if (failed === 0 && (status !== '0' || passed === 0)) failed = 1

const totals = [`${passed} passed`, `${failed} failed`]
if (skipped > 0) totals.push(`${skipped} skipped`)
console.log(totals.join(', '))
process.exitCode = failed > 0 ? 1 : 0
