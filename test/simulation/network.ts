// What lies between a replica and the store: requests and replies that are slow, are lost, come
// twice or too late. The caller sees an error, a late answer, or none ever.

import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { NetworkFault, Scenario } from './scenario.ts'
import type { Tally } from './tally.ts'
import type { Timeline } from './timeline.ts'

/** How long a request that nobody waits for any more may still be on its way. */
const LATE_MS_MAX = 120_000

/** A request: what it does when it arrives, and who is told when its reply does. */
export interface Request<Reply> {
  readonly process: Process
  /** Has an answer for each of several items. */
  readonly isBatch: boolean
  /** Carried out at the other end, whole. */
  readonly arrive: () => Reply
  /** The reply, or an error, is about to be handed to the caller. */
  readonly delivered?: (reply: Reply | Error) => void
}

/** What the network needs. */
export interface NetworkOptions {
  readonly timeline: Timeline
  readonly random: Random
  readonly scenario: Scenario
  readonly tally: Tally
  /** An error as a store of the library throws it. */
  readonly storeError: (code: 'STORE_UNAVAILABLE' | 'STORE_OUTCOME_UNKNOWN') => Error
}

/** Carries requests. */
export class Network {
  /** From then on nothing is lost any more. */
  isHealed = false
  /** True time until which nobody reaches the store. */
  outageUntil = -Infinity
  readonly cutOffUntil = new Map<Process, number>()
  readonly #options: NetworkOptions

  constructor(options: NetworkOptions) {
    this.#options = options
  }

  send<Reply>(request: Request<Reply>): Promise<Reply> {
    const { process } = request
    const fault = this.#fault(process)
    if (fault) {
      this.#options.tally.count(`network: ${fault}`)
      process.troubledAt = Math.max(process.troubledAt, process.time)
    }
    if (fault === 'thrown at once') {
      const error = this.#error()
      request.delivered?.(error)
      throw error
    }
    return new Promise<Reply>((resolve, reject) => {
      const deliver = (at: number, reply: Reply | Error) => {
        process.deliver(at, () => {
          request.delivered?.(reply)
          if (reply instanceof Error) reject(reply)
          else resolve(reply)
        })
      }
      this.#carry(request, fault, deliver)
    })
  }

  /** `deliver` is called at most once with what the caller is to see. */
  #carry<Reply>(
    request: Request<Reply>,
    fault: NetworkFault | undefined,
    deliver: (at: number, reply: Reply | Error) => void,
  ): void {
    const { timeline, random } = this.#options
    const sentAt = request.process.time
    const isSlow = fault === 'slow'
    const arrivesAt = sentAt + this.#delay(isSlow && random.chance(0.5))
    const arrive = (then: (reply: Reply | Error) => void) => () => then(answerOf(request))
    const answer = (reply: Reply | Error) => {
      deliver(timeline.now + this.#delay(isSlow), reply)
    }
    const fail = () => this.#fail(arrivesAt, deliver)
    const late = () => sentAt + random.spread(10, LATE_MS_MAX)
    switch (fault) {
      case 'refused':
        deliver(arrivesAt, this.#error())
        break
      case 'request lost':
        fail()
        break
      case 'reply lost':
        timeline.at(arrivesAt, arrive(fail))
        break
      case 'applied late':
        this.#late(
          request.process,
          late(),
          arrive(() => {}),
        )
        fail()
        break
      case 'delivered twice': {
        // A client that resends sees the answer to its second try.
        const isSecond = random.chance(0.5)
        timeline.at(arrivesAt, arrive(isSecond ? () => {} : answer))
        this.#late(
          request.process,
          isSecond ? arrivesAt + this.#delay(false) : late(),
          arrive(isSecond ? answer : () => {}),
        )
        break
      }
      case 'batch answered in part':
        timeline.at(
          arrivesAt,
          arrive((reply) => answer(request.isBatch ? inPart(reply) : reply)),
        )
        break
      default:
        timeline.at(arrivesAt, arrive(answer))
    }
  }

  #late(process: Process, at: number, action: () => void): void {
    this.#options.timeline.at(at, () => {
      process.troubledAt = Math.max(process.troubledAt, this.#options.timeline.now)
      action()
    })
  }

  /** An error, soon or late, or silence. */
  #fail<Reply>(at: number, deliver: (at: number, reply: Reply | Error) => void): void {
    const { random, tally } = this.#options
    if (random.chance(0.4)) tally.count('network: no answer ever')
    else deliver(at + (random.chance(0.5) ? 0 : random.spread(1, 20_000)), this.#error())
  }

  #delay(isSlow: boolean): number {
    const { random, scenario } = this.#options
    return isSlow ? random.spread(200, 20_000) : random.next() * scenario.latencyMs
  }

  #fault(process: Process): NetworkFault | undefined {
    const { timeline, random, scenario } = this.#options
    if (this.isHealed) return undefined
    const cutOffUntil = this.cutOffUntil.get(process) ?? -Infinity
    if (timeline.now < Math.max(this.outageUntil, cutOffUntil)) {
      return random.chance(0.5) ? 'refused' : 'request lost'
    }
    let left = scenario.network.size === 0 ? 1 : random.next()
    for (const [fault, share] of scenario.network) {
      left -= share
      if (left < 0) return fault
    }
    return undefined
  }

  #error(): Error {
    const { random, storeError } = this.#options
    const kind = random.between(0, 2)
    if (kind === 0) return new Error('the socket hung up')
    return storeError(kind === 1 ? 'STORE_UNAVAILABLE' : 'STORE_OUTCOME_UNKNOWN')
  }
}

function answerOf<Reply>({ arrive }: Request<Reply>): Reply | Error {
  try {
    return arrive()
  } catch (error) {
    return error as Error
  }
}

function inPart<Reply>(reply: Reply): Reply {
  return Array.isArray(reply) ? (reply.slice(0, -1) as Reply) : reply
}
