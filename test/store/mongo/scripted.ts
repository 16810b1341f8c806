// A client of no server, whose answers a test writes: for what servers say that none of ours says.

import { type MongoClient, type MongoFields, MongoStore } from '../../../src/store/mongo/index.ts'
import { scheduleFields } from '../../../src/store/mongo/stored-schedule.ts'
import { dueTask } from './stage.ts'

/** A command as it was asked, and the options that came with it. */
export interface Asked {
  readonly name: string
  readonly command: MongoFields
  readonly options: MongoFields
}

/** What an answer is: documents for a `find`, a reply for others, or what is thrown. */
export type Answer = readonly MongoFields[] | MongoFields | Error

/** A client whose commands are answered by `answer`, and a list of all that was asked. */
export function scriptedClient(answer: (asked: Asked, count: number) => Answer | undefined) {
  const asked: Asked[] = []
  const ask = (command: MongoFields, options: MongoFields = {}): Answer => {
    const [name = ''] = Object.keys(command)
    const each = { name, command, options }
    asked.push(each)
    const given = answer(each, asked.filter((other) => other.name === name).length)
    const found = given ?? ROUTINE[name] ?? (command.find === 'schedule_schema' ? [SCHEMA] : [])
    if (found instanceof Error) throw found
    return found
  }
  const client: MongoClient = {
    connect: async () => {},
    db: () => ({
      command: async (command, options) => ask(command, options) as MongoFields,
      async *runCursorCommand(command, options) {
        yield* ask(command, options) as readonly MongoFields[]
      },
    }),
  }
  return { client, asked, of: (name: string) => asked.filter((each) => each.name === name) }
}

const SCHEMA = { _id: 'cronfence', version: 1n, tokenFloor: 0n }

/** A server of good will, with a store that was set up. */
const ROUTINE: Readonly<Record<string, Answer>> = {
  hello: { isWritablePrimary: true },
  buildInfo: { version: '8.0.0' },
}

/** Of the stores here. */
export const TIMEOUT_MS = 300

/** A row under an id, as it is stored. */
export const stored = (id: string, more: MongoFields = {}): MongoFields => ({
  ...{ _id: id, ...scheduleFields({ ...dueTask(id), fencingToken: 0, updatedAt: 0 }) },
  ...{ write: 'first', past: [], ...more },
})

/** A store over a scripted client. */
export function storeOver(answer: (asked: Asked, count: number) => Answer | undefined) {
  const script = scriptedClient(answer)
  const warnings: string[] = []
  const store = new MongoStore({
    ...{ client: script.client, timeoutMs: TIMEOUT_MS },
    onWarning: (text) => warnings.push(text),
  })
  return { ...script, store, schedules: store.schedules(), warnings }
}

/** A store with one due row, whose update is answered by `reply`. */
export const overRow = (reply: (count: number) => Answer) =>
  storeOver(({ name, command }, count) => {
    if (name === 'update') return reply(count)
    return command.find === 'schedules' ? [stored('a')] : undefined
  })

/** A claim of the id `a`. */
export const claim = ({ schedules }: ReturnType<typeof storeOver>) =>
  schedules.claimDue('a', 'o', 0, 10)
