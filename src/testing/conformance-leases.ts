// The contract of LeaseProvider: who holds a name, until when, and under which token.

import type { Lease, LeaseProvider } from '../lease/lease.ts'
import { same } from './assertions.ts'
import type { ConformanceCase, LeaseSubject, LeaseSuite } from './conformance.ts'

const NAME = 'scheduler:leader'
const TTL_MS = 1000

async function acquired(provider: LeaseProvider, owner = 'first'): Promise<Lease> {
  const lease = await provider.acquire(NAME, owner, TTL_MS)
  if (!lease) throw new Error(`acquire by ${owner}: expected a lease, found null`)
  return lease
}

type Cases = Readonly<Record<string, (subject: LeaseSubject) => Promise<void>>>

const acquireCases: Cases = {
  'a free name is acquired with a positive token': async ({ provider }) => {
    same((await acquired(provider)).fencingToken > 0, true)
  },
  'a held name is refused to others': async ({ provider }) => {
    await acquired(provider)
    same(await provider.acquire(NAME, 'second', TTL_MS), null)
  },
  'the deadline is the time to live from now': async ({ provider, advance }) => {
    const first = await acquired(provider)
    await advance(100)
    const elapsedMs = (await acquired(provider)).leaseUntil - first.leaseUntil
    same(elapsedMs >= 100, true, `${elapsedMs} ms are at least 100`)
  },
  'the holder acquires again with a higher token, and the old one is stale': async ({
    provider,
  }) => {
    const first = await acquired(provider)
    const second = await acquired(provider)
    same(second.fencingToken > first.fencingToken, true, 'the second token is higher')
    same(await provider.renew(NAME, first.fencingToken, TTL_MS), false)
    same(await provider.renew(NAME, second.fencingToken, TTL_MS), true)
  },
  'a lapsed name goes to another with a higher token': async ({ provider, advance }) => {
    const first = await acquired(provider)
    await advance(TTL_MS)
    const second = await acquired(provider, 'second')
    same(second.fencingToken > first.fencingToken, true, 'the second token is higher')
  },
  'names are held apart, to the byte': async ({ provider }) => {
    const names = ['a', 'A', 'a ', 'é', 'e\u0301', 'a.b', 'a:b', '{a}', "'", '%', '🎉']
    for (const name of names) {
      const lease = await provider.acquire(name, 'owner', TTL_MS)
      same(lease?.fencingToken, 1, `the first token of ${JSON.stringify(name)}`)
    }
    for (const name of names) same(await provider.acquire(name, 'other', TTL_MS), null)
  },
  'twenty owners at once: one has it': async (subject) => {
    const providers = await clients(subject)
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (providers[index % providers.length] as LeaseProvider).acquire(NAME, `${index}`, TTL_MS),
      ),
    )
    same(results.filter((each) => each !== null).length, 1)
  },
  'tokens rise over releases, lapses and renewals': async ({ provider, advance }) => {
    let last = 0
    for (let round = 0; round < 12; round++) {
      const { fencingToken } = await acquired(provider, `owner ${round}`)
      same(fencingToken > last, true, `token ${fencingToken} is above ${last}`)
      last = fencingToken
      if (round % 3 === 0) await advance(TTL_MS)
      else if (round % 3 === 1) await provider.release(NAME, fencingToken)
      else {
        await provider.renew(NAME, fencingToken, TTL_MS)
        await provider.release(NAME, fencingToken)
      }
    }
  },
}

const renewCases: Cases = {
  'a renewal keeps the name beyond the first deadline': async ({ provider, advance }) => {
    const { fencingToken } = await acquired(provider)
    await advance(TTL_MS / 2)
    same(await provider.renew(NAME, fencingToken, TTL_MS), true)
    await advance(TTL_MS / 2)
    same(await provider.acquire(NAME, 'second', TTL_MS), null)
  },
  'a lapsed lease cannot be renewed': async ({ provider, advance }) => {
    const { fencingToken } = await acquired(provider)
    await advance(TTL_MS)
    same(await provider.renew(NAME, fencingToken, TTL_MS), false)
  },
  'a lease that another took cannot be renewed': async ({ provider, advance }) => {
    const { fencingToken } = await acquired(provider)
    await advance(TTL_MS)
    await acquired(provider, 'second')
    same(await provider.renew(NAME, fencingToken, TTL_MS), false)
  },
  'a released lease cannot be renewed': async ({ provider }) => {
    const { fencingToken } = await acquired(provider)
    await provider.release(NAME, fencingToken)
    same(await provider.renew(NAME, fencingToken, TTL_MS), false)
  },
  'a name that nobody acquired cannot be renewed': async ({ provider }) => {
    same(await provider.renew('unknown', 1, TTL_MS), false)
  },
  'a token from the future renews nothing': async ({ provider }) => {
    const { fencingToken } = await acquired(provider)
    same(await provider.renew(NAME, fencingToken + 1, TTL_MS), false)
  },
}

const releaseCases: Cases = {
  'a released name is free at once': async ({ provider }) => {
    const { fencingToken } = await acquired(provider)
    await provider.release(NAME, fencingToken)
    await acquired(provider, 'second')
  },
  'a stale token releases nothing': async ({ provider, advance }) => {
    const { fencingToken } = await acquired(provider)
    await advance(TTL_MS)
    await acquired(provider, 'second')
    await provider.release(NAME, fencingToken)
    same(await provider.acquire(NAME, 'third', TTL_MS), null)
  },
  'a release twice, or of an unknown name, does nothing': async ({ provider }) => {
    const { fencingToken } = await acquired(provider)
    await provider.release(NAME, fencingToken)
    await provider.release(NAME, fencingToken)
    await provider.release('unknown', 1)
    await acquired(provider, 'second')
  },
  'another client sees who holds the name': async (subject) => {
    const [first, second] = (await clients(subject)) as [LeaseProvider, LeaseProvider]
    const { fencingToken } = await acquired(first)
    same(await second.acquire(NAME, 'second', TTL_MS), null)
    await second.release(NAME, fencingToken)
    await acquired(first, 'third')
  },
}

/** The cases of a lease provider. */
export function leaseProviderCases(suite: LeaseSuite): ConformanceCase[] {
  const groups = { acquire: acquireCases, renew: renewCases, release: releaseCases }
  return Object.entries(groups).flatMap(([group, bodies]) =>
    Object.entries(bodies).map(([name, body]) => ({
      group: `lease ${group}`,
      name,
      async run() {
        const subject = await suite.open()
        try {
          await body(subject)
        } finally {
          await subject.close()
        }
      },
    })),
  )
}

async function clients({ provider, another }: LeaseSubject): Promise<LeaseProvider[]> {
  return [provider, (await another?.()) ?? provider]
}
