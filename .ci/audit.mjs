// Asks the registry about known holes in our packages: fails for one of severity high or more in
// what is shipped, and tells those of the tools. A registry that cannot be asked is no hole: that is
// said on a line of its own, and nothing fails for it.

import { spawnSync } from 'node:child_process'

const SERIOUS = ['high', 'critical']

const shipped = ask(['--omit=dev'])
const all = shipped.holes && ask([])
const unasked = shipped.unasked ?? all?.unasked

if (unasked !== undefined)
  console.log(`audit: NOT DONE, known holes were not looked for: ${unasked}`)
const serious = (shipped.holes ?? []).filter(({ severity }) => SERIOUS.includes(severity))
for (const hole of serious) console.log(`audit: FAILED, in what is shipped: ${textOf(hole)}`)
const others = (all?.holes ?? []).filter(({ name }) => !serious.some((hole) => hole.name === name))
for (const hole of others) {
  const isShipped = shipped.holes.some(({ name }) => name === hole.name)
  console.log(`audit: in ${isShipped ? 'what is shipped' : 'tools only'}: ${textOf(hole)}`)
}
if (unasked === undefined && serious.length === 0) {
  console.log('audit: no known hole of severity high or more in what is shipped')
}
process.exitCode = serious.length > 0 || shipped.isBroken || all?.isBroken ? 1 : 0

/** The holes that npm knows of, or why it does not. */
function ask(options) {
  const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json', ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  let report
  try {
    report = JSON.parse(stdout)
  } catch {
    const [line = ''] = (error?.message ?? stderr).split('\n')
    return { isBroken: true, unasked: `npm audit gave no answer: ${line}` }
  }
  if (report.auditReportVersion === 2) return { holes: Object.values(report.vulnerabilities) }
  return { unasked: report.message ?? report.error?.summary ?? 'the answer is no report' }
}

function textOf({ name, severity, range, via }) {
  const titles = via.map((each) => (typeof each === 'string' ? each : `${each.title} ${each.url}`))
  return `${name} ${range} (${severity}): ${titles.join('; ')}`
}
