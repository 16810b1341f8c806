// CI's look for known holes, with answers of a registry as they were recorded, and what becomes of
// them in the last line of `.ci/run`.

import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

const report = (vulnerabilities: object) => ({ auditReportVersion: 2, vulnerabilities })
const hole = (name: string, severity: string) => ({
  [name]: {
    ...{ name, severity, isDirect: false, effects: [], range: '<4.17.21', nodes: [] },
    via: [{ title: 'Command Injection', url: 'https://github.com/advisories/GHSA-1', severity }],
    fixAvailable: true,
  },
})
const CLEAN = report({})
const NO_ENDPOINT = {
  message: '405 Method Not Allowed - POST /-/npm/v1/security/advisories/bulk',
  ...{ method: 'POST', statusCode: 405, body: '', error: { summary: '', detail: '' } },
}

/** Runs a program with an `npm` that answers as told. */
function withNpm(
  command: readonly string[],
  { shipped, all }: { shipped: object | string; all?: object | string },
) {
  const folder = mkdtempSync(join(tmpdir(), 'cronfence-audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const put = (name: string, value: unknown) =>
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
  put('shipped', shipped)
  put('all', all ?? shipped)
  put('report', { testResults: [{ status: 'passed', assertionResults: [{ status: 'passed' }] }] })
  put(
    'npm',
    `#!/bin/sh
case "$*" in
  "audit --json --omit=dev") cat "${folder}/shipped" ;;
  "audit --json") cat "${folder}/all" ;;
  "ci") ;;
  "test "*) for last; do :; done; cp "${folder}/report" "\${last#--outputFile.json=}" ;;
  *) exit 9 ;;
esac
`,
  )
  chmodSync(join(folder, 'npm'), 0o755)
  const PATH = [folder, dirname(process.execPath), process.env.PATH].join(delimiter)
  const [program = '', ...args] = command
  const { status, stdout } = spawnSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  })
  return { status, lines: stdout.trim().split('\n') }
}

const audit = (answers: { shipped: object | string; all?: object | string }) =>
  withNpm([process.execPath, '.ci/audit.mjs'], answers)

describe('the audit', () => {
  test('of packages without holes says so', () => {
    expect(audit({ shipped: CLEAN })).toEqual({
      status: 0,
      lines: ['audit: no known hole of severity high or more in what is shipped'],
    })
  })

  test.each(['high', 'critical'])('fails for a %s hole in what is shipped', (severity) => {
    const found = report(hole('lodash', severity))
    expect(audit({ shipped: found })).toEqual({
      status: 1,
      lines: [
        `audit: FAILED, in what is shipped: lodash <4.17.21 (${severity}): ` +
          'Command Injection https://github.com/advisories/GHSA-1',
      ],
    })
  })

  test('tells of lesser holes, and of any in tools, without failing', () => {
    const minor = hole('ms', 'moderate')
    const all = report({ ...minor, ...hole('vite', 'critical') })
    const { status, lines } = audit({ shipped: report(minor), all })
    expect(status).toBe(0)
    expect(lines).toEqual([
      expect.stringContaining('audit: in what is shipped: ms <4.17.21 (moderate)'),
      expect.stringContaining('audit: in tools only: vite <4.17.21 (critical)'),
      'audit: no known hole of severity high or more in what is shipped',
    ])
  })

  test('that the registry does not offer is said to be not done, and fails nothing', () => {
    expect(audit({ shipped: NO_ENDPOINT })).toEqual({
      status: 0,
      lines: [`audit: NOT DONE, known holes were not looked for: ${NO_ENDPOINT.message}`],
    })
  })

  test('that is offered for a part only tells of that part', () => {
    const { status, lines } = audit({ shipped: report(hole('ms', 'high')), all: NO_ENDPOINT })
    expect(status).toBe(1)
    expect(lines).toEqual([
      expect.stringMatching(/^audit: NOT DONE/),
      expect.stringMatching(/^audit: FAILED, in what is shipped: ms/),
    ])
  })

  test('without an answer that can be read fails', () => {
    const { status, lines } = audit({ shipped: 'Segmentation fault' })
    expect(status).toBe(1)
    expect(lines).toEqual([expect.stringMatching(/^audit: NOT DONE.*npm audit gave no answer/)])
  })
})

describe('the last line of CI', () => {
  test.each([
    ['is the totals of the tests', CLEAN, '1 passed, 0 failed', 0],
    ['counts a hole as a failure', report(hole('ms', 'high')), '1 passed, 1 failed', 1],
    ['counts no registry that cannot be asked', NO_ENDPOINT, '1 passed, 0 failed', 0],
  ])('%s', (_, shipped, last, status) => {
    const outcome = withNpm(['bash', '.ci/run'], { shipped })
    expect(outcome.lines.at(-1)).toBe(last)
    expect(outcome.lines.filter((line) => line.startsWith('audit: '))).toHaveLength(1)
    expect(outcome.status).toBe(status)
  })
})
