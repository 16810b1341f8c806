// Can the server be trusted with the data? A replica is refused; of settings under which a promise
// does not hold users are told, with the remedy. What a server does not say is no failure: managed
// ones keep much to themselves.

import { CronfenceError } from '../../errors.ts'
import { isRefusedCommand, replicaRefused } from './redis-errors.ts'

/** Ways to ask the server that has the keys; they reject with `CronfenceError`s. */
export interface ServerQuestions {
  /** What errors and warnings call the store. */
  readonly name: string
  info(): Promise<string | undefined>
  config(setting: string): Promise<string | undefined>
  onWarning(text: string): void
}

const RUNS_AGAIN = 'a slot may run again, under a token that was given out before'

/** What weakens a promise: the setting, the value that is right, and what else may happen. */
const WEAKNESSES = [
  {
    setting: 'maxmemory_policy',
    right: 'noeviction',
    text:
      'the server may drop tasks and their tokens when its memory is full: a task may vanish, or ' +
      'a token be given out twice. Set maxmemory-policy to noeviction',
  },
  {
    setting: 'aof_enabled',
    right: '1',
    text:
      `a crash of the server undoes what was confirmed since its last snapshot: ${RUNS_AGAIN}. ` +
      'Set appendonly to yes, and appendfsync to always',
  },
  {
    setting: 'appendfsync',
    right: 'always',
    text:
      'a loss of power, or a crash of its machine, undoes what was confirmed in the last second ' +
      `or more: ${RUNS_AGAIN}. Set appendfsync to always`,
  },
  {
    setting: 'min-replicas-to-write',
    right: '1',
    text:
      'it goes on when it is cut off from its replicas, and a failover undoes what it confirmed ' +
      `meanwhile: ${RUNS_AGAIN}. Set min-replicas-to-write to 1, and min-replicas-max-lag to ` +
      'some seconds',
  },
] as const

const TO_SEE_TO =
  'see to it yourself that maxmemory-policy is noeviction, appendonly is yes and appendfsync is ' +
  'always'

/** Refuses a replica, and warns of settings under which a promise does not hold. */
export async function checkServer(questions: ServerQuestions): Promise<void> {
  const { name, onWarning } = questions
  const unanswered: string[] = []
  const answerTo = async (question: string, ask: () => Promise<string | undefined>) => {
    const answer = await unlessRefused(ask)
    if (answer === undefined) unanswered.push(question)
    return answer
  }
  const settings = settingsIn((await answerTo('INFO', () => questions.info())) ?? '')
  if (settings.get('role') === 'slave') throw replicaRefused(name)
  if (settings.get('aof_enabled') !== '0') {
    const ask = () => questions.config('appendfsync')
    settings.set('appendfsync', await answerTo('CONFIG GET appendfsync', ask))
  }
  for (const { setting, right, text } of WEAKNESSES) {
    const value = settings.get(setting)
    if (value === undefined || value === right) continue
    onWarning(`${name}: ${setting} is ${value} on this server, so ${text}.`)
  }
  if (unanswered.length === 0) return
  onWarning(`${name}: the server does not answer ${unanswered.join(' or ')}: ${TO_SEE_TO}.`)
}

/** The answer, or nothing when the server takes no such question. */
async function unlessRefused(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof CronfenceError && isRefusedCommand(error.cause)) return undefined
    throw error
  }
}

function settingsIn(info: string): Map<string, string | undefined> {
  const lines = info.split('\r\n')
  const settings = new Map(lines.map((line) => line.split(':') as [string, string]))
  // This field is there when the setting is.
  const isUnheeded = !settings.has('min_slaves_good_slaves')
  const replicas = Number(settings.get('connected_slaves') ?? 0)
  if (replicas > 0 && isUnheeded) settings.set('min-replicas-to-write', '0')
  return settings
}
