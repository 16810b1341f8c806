// A client of no server, whose answers a test writes: for what servers say that none of ours says.

import type { MongoClient, MongoFields } from '../../../src/store/mongo/index.ts'

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
