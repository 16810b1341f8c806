// What a store must carry unharmed: ids that look like its own syntax, and numbers to their ends.

import { CronfenceError } from '../errors.ts'
import type { ScheduleRecord } from '../store/store.ts'
import { rejects, same } from './assertions.ts'
import {
  type ConformanceCase,
  type StoreCaseBody,
  type StoreSuite,
  storeCases,
} from './conformance.ts'
import { ID, LEASE_MS, type Stage } from './stage.ts'

type Cases = Readonly<Record<string, StoreCaseBody>>

/** Ids that differ, though some comparisons or encodings would take them for one. */
export const CONFORMANCE_IDS: Readonly<Record<string, readonly string[]>> = {
  'one character': ['a', '0', ' ', '.', '*', '>', '$', '_', '%', '/', ':', '-', '\\', '\n', '\x7f'],
  case: ['nightly', 'Nightly', 'NIGHTLY', 'ß', 'ss', 'SS', 'ẞ', 'İ', 'i', 'I', 'ı', 'σ', 'ς', 'Σ'],
  'accents composed or not': ['caf\u00e9', 'cafe\u0301', 'cafe', '\u212b', '\u00c5', 'A\u030a'],
  'width and ligatures': ['ａ', 'a', 'ﬁ', 'fi', '①', '1', '²', '2'],
  'blanks at the ends': [
    'x',
    ' x',
    'x ',
    ' x ',
    'x  ',
    'x\t',
    'x\n',
    '\r\nx',
    'x\u00a0',
    '\u2003x',
  ],
  numbers: ['1', '01', '1.0', '1e0', '+1', '0x1', '9007199254740993', '-0', 'NaN', 'Infinity'],
  words: ['null', 'undefined', 'true', '__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  'dots and slashes': [
    '..',
    '.',
    '...',
    'a..b',
    '.a',
    'a.',
    'a/b',
    '/a',
    'a//b',
    '../../etc',
    'a\\b',
  ],
  quotes: ["it's", '"', "''", '`x`', "\\'", '\\"', "'; DROP TABLE schedules; --", "' OR '1'='1"],
  patterns: ['%', '_', 'a%', 'a_', '100%', '*', '?', '[a-z]', 'a*', '^a$', '(', '%s%d%n', '{0}'],
  'Redis and Lua': [
    '{a}',
    '{a}b',
    'a{b}',
    '{}',
    '{',
    '}',
    'cronfence:sched:a',
    '" .. os.exit() .. "',
  ],
  Mongo: ['$set', '$$ROOT', '$where', 'a.b', '{"$gt":""}', '_id', '$'],
  NATS: ['a.b.*', 'a.>', '>', '*', '$KV.x', 'a b', '_INBOX.1', '='],
  'URLs and encodings': [
    '%2e',
    '%00',
    '&amp;',
    'a=b&c',
    'YQ',
    'YQ==',
    '\\u0061',
    '\\x61',
    'a+b',
    '~',
  ],
  'control characters': [
    '\x01',
    'a\x1fb',
    'a\x1eb',
    '\x1b[31m',
    'a\x7fb',
    'a\x85b',
    '\u2028',
    '\ufeffa',
  ],
  'scripts and directions': [
    'ключ',
    '鍵',
    'مفتاح',
    '\u202eabc',
    'abc\u202c',
    '\u200b',
    'a\u200db',
    'क्ष',
  ],
  'beyond the basic plane': ['🎉', '👩‍👩‍👧‍👧', '🇪🇸', '𝒳', '\u{10ffff}', '\uffff', '𠀀'],
  'the longest ids': [
    'x'.repeat(1024),
    `${'x'.repeat(1023)}y`,
    '🎉'.repeat(256),
    `é${'x'.repeat(1022)}`,
  ],
  'long ids with one beginning': [768, 767, 255, 256, 191, 192, 63, 64].map((n) => 'p'.repeat(n)),
}

function idBody(ids: readonly string[]): StoreCaseBody {
  return async (stage) => {
    const { store, at } = stage
    for (const id of ids) await stage.register({ id, spec: `of ${id}` })
    const listed = (await store.list()).map((record) => record.id)
    same(listed.sort(), [...ids].sort(), 'the ids listed')
    for (const [index, id] of ids.entries()) {
      const record = await stage.row(id)
      same([record.id, record.spec], [id, `of ${id}`], 'the row')
      const claim = await stage.claim(at, { id, leaseMs: LEASE_MS + index })
      same([claim.record.id, claim.fencingToken], [id, 1], 'the claim')
    }
    for (const [index, id] of ids.entries()) {
      same((await stage.row(id)).leaseUntil, at + LEASE_MS + index, 'the deadline')
      same(await store.renew(id, 1, at + 5), true, 'the renewal')
      same(await store.complete(id, 1, { nextRunAt: at + index }, at), true, 'the commit')
    }
    for (const [index, id] of ids.entries()) same((await stage.row(id)).nextRunAt, at + index)
    for (const [index, id] of ids.entries()) {
      await store.delete(id)
      same((await store.list()).length, ids.length - index - 1, 'the rows left')
    }
    for (const id of ids) same((await stage.register({ id })).fencingToken, 1, 'the token kept')
  }
}

const REFUSED_IDS: Readonly<Record<string, string>> = {
  'an empty id': '',
  'an id with NUL': 'a\0b',
  'an id with a lone surrogate': 'a\ud83cb',
  'an id that ends in half an emoji': '🎉'.slice(0, 1),
  'an id of 1025 bytes': 'x'.repeat(1025),
  'an id of 1024 characters and 1025 bytes': `é${'x'.repeat(1023)}`,
}

const refusals: Cases = Object.fromEntries(
  Object.entries(REFUSED_IDS).map(([name, id]) => [
    `${name} is a TypeError`,
    async ({ store, at }: Stage) => {
      const isTypeError = (error: unknown) => error instanceof TypeError
      const schedule = { id, kind: 'every', spec: '1', nextRunAt: at } as const
      const calls: Record<string, () => Promise<unknown>> = {
        get: () => store.get(id),
        register: () => store.register(schedule, at),
        claimDue: () => store.claimDue(id, 'owner', at, LEASE_MS),
        renew: () => store.renew(id, 1, at),
        complete: () => store.complete(id, 1, { nextRunAt: null }, at),
        delete: () => store.delete(id),
      }
      for (const [call, run] of Object.entries(calls)) {
        await rejects(run, isTypeError, `a TypeError from ${call}`)
      }
      same(await store.list(), [])
    },
  ]),
)

const DAY_MS = 86_400_000
const INSTANTS: Readonly<Record<string, number>> = {
  'the epoch': 0,
  'one ms before the epoch': -1,
  'the year 1901': -(2 ** 31) * 1000,
  'the edge of 32 bits in ms': 2 ** 31,
  'the edge of 32 bits in s': 2 ** 31 * 1000,
  'a leap day': Date.UTC(2024, 1, 29, 23, 59, 59, 999),
  'the end of the year 9999': Date.UTC(9999, 11, 31, 23, 59, 59, 999),
  'the first instant of Date': -8.64e15,
  'the last instant of Date': 8.64e15 - 2 * DAY_MS,
  'an odd number of 53 bits': 2 ** 52 + 1,
  'a negative number of 53 bits': -(2 ** 53) + 2,
}

function instantBody(instant: number): StoreCaseBody {
  return async (stage) => {
    const { store } = stage
    const record = await stage.register({ nextRunAt: instant }, instant)
    same([record.nextRunAt, record.updatedAt], [instant, instant])
    same(await stage.tryClaim(instant - 1), null)
    const claim = await stage.claim(instant)
    same(claim.record.leaseUntil, instant + LEASE_MS)
    same(await store.renew(ID, 1, instant + DAY_MS), true)
    same(await stage.tryClaim(instant + DAY_MS - 1), null)
    const patch = { nextRunAt: instant + 1, lastRunAt: instant }
    same(await store.complete(ID, 1, patch, instant + 1), true)
    const { nextRunAt, lastRunAt, updatedAt } = await stage.row()
    same({ nextRunAt, lastRunAt, updatedAt }, { ...patch, updatedAt: instant + 1 })
  }
}

const TOKENS: Readonly<Record<string, number>> = {
  'of 31 bits': 2 ** 31 - 1,
  'of 32 bits': 2 ** 32 - 1,
  'of 16 digits': 1e15 + 1,
  'two below the ceiling': Number.MAX_SAFE_INTEGER - 2,
  'one below the ceiling': Number.MAX_SAFE_INTEGER - 1,
}

const tokenBody =
  (token: number): StoreCaseBody =>
  async (stage) => {
    const { store, at } = stage
    same((await stage.row()).fencingToken, token)
    same((await stage.claim()).fencingToken, token + 1)
    same(await store.renew(ID, token, at), false)
    same(await store.renew(ID, token + 1, at + LEASE_MS), true)
    same(await store.complete(ID, token, { nextRunAt: at }, at), false)
    same(await store.complete(ID, token + 1, { nextRunAt: at }, at), true)
    await store.delete(ID, token)
    await store.delete(ID, token + 1)
    same((await stage.register()).fencingToken, token + 1)
  }

const ceiling: Cases = {
  'a token at the ceiling refuses the claim and changes nothing': async (stage) => {
    const isCeiling = (error: unknown) =>
      error instanceof CronfenceError && error.code === 'STORE_TOKEN_CEILING'
    await stage.unchanged(async () => {
      await rejects(() => stage.tryClaim(), isCeiling, 'a CronfenceError STORE_TOKEN_CEILING')
    })
  },
  'a token at the ceiling survives a deletion': async (stage) => {
    await stage.store.delete(ID, Number.MAX_SAFE_INTEGER)
    same((await stage.register()).fencingToken, Number.MAX_SAFE_INTEGER)
  },
}

/** Ids and numbers. */
export function valueCases(suite: StoreSuite, at: number): ConformanceCase[] {
  const row = (fencingToken: number): ScheduleRecord => ({
    ...{ id: ID, kind: 'every', spec: '1', nextRunAt: at, updatedAt: at, fencingToken },
  })
  return [
    ...storeCases(suite, { group: 'ids', at }, named(CONFORMANCE_IDS, 'told apart: ', idBody)),
    ...(suite.supports.strict ? storeCases(suite, { group: 'ids', at }, refusals) : []),
    ...storeCases(suite, { group: 'instants', at }, named(INSTANTS, 'a life at ', instantBody)),
    ...(suite.supports.seeding ? tokenCases(suite, at, row) : []),
  ]
}

function tokenCases(
  suite: StoreSuite,
  at: number,
  row: (fencingToken: number) => ScheduleRecord,
): ConformanceCase[] {
  const growing = Object.entries(TOKENS).flatMap(([name, token]) => {
    const seeded = { group: 'tokens', at, rows: [row(token)] }
    return storeCases(suite, seeded, { [`a token ${name} grows by one`]: tokenBody(token) })
  })
  const full = { group: 'tokens', at, rows: [row(Number.MAX_SAFE_INTEGER)] }
  return [...growing, ...storeCases(suite, full, ceiling)]
}

function named<T>(
  rows: Readonly<Record<string, T>>,
  prefix: string,
  body: (value: T) => StoreCaseBody,
): Cases {
  return Object.fromEntries(
    Object.entries(rows).map(([name, value]) => [`${prefix}${name}`, body(value)]),
  )
}
