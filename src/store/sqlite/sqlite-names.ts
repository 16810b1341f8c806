// Whether all processes reach the file by one name. SQLite keeps its log beside the name, so under
// two names there are two logs, and neither process sees what the other has committed.

import { readFile, realpath, stat } from 'node:fs/promises'

/** What is wrong with the name of an existing file, one text per problem; none for `:memory:`. */
export async function nameProblems(file: string): Promise<readonly string[]> {
  const links = await stat(file).then(
    ({ nlink }) => nlink,
    () => undefined, // Not a plain path: the driver knows what it opened.
  )
  if (links === undefined) return []
  const problems: string[] = []
  if (links > 1) problems.push(`the file has ${links} names (hard links)`)
  if ((await mountPoints()).has(await realpath(file))) {
    problems.push('the file is mounted by itself: mount its folder instead')
  }
  return problems
}

/** The places where something is mounted. Empty where the system does not tell. */
async function mountPoints(): Promise<ReadonlySet<string>> {
  const text = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  return new Set(text.split('\n').map((line) => unescaped(line.split(' ')[4] ?? '')))
}

// Blanks and the like come as \040.
function unescaped(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits) => String.fromCharCode(parseInt(digits, 8)))
}
