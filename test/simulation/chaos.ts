// What happens to the replicas of a simulation from outside: crashes, pauses, clocks that are set,
// deploys, users who cancel tasks. What comes after all that: `healing.ts`.

import type { Random } from './random.ts'
import type { Replica } from './replica.ts'
import type { Trouble } from './scenario.ts'
import type { World } from './world.ts'

/** Makes trouble. */
export class Chaos {
  readonly #world: World
  readonly #random: Random
  #version = 0
  readonly #troubles: Readonly<Record<Trouble, () => void>>

  constructor(world: World) {
    this.#world = world
    this.#random = world.random.fork()
    this.#troubles = {
      crash: () => this.#withReplica((replica) => this.#crash(replica)),
      'crash at a request': () =>
        this.#withReplica((replica) => {
          replica.crashAtRequest(this.#random.chance(0.5) ? 'before' : 'after')
          this.#bootLater(replica.seat)
        }),
      'crash in a handler': () =>
        this.#withReplica((replica) => {
          replica.crashInHandler()
          this.#bootLater(replica.seat)
        }),
      pause: () => this.#withReplica((replica) => this.#pause(replica)),
      block: () => this.#withReplica((replica) => this.#block(replica)),
      sleep: () => this.#withReplica((replica) => this.#sleep(replica)),
      step: () => this.#step(),
      'cut off': () => this.#withReplica((replica) => this.#cutOff(replica)),
      outage: () => this.#outage(),
      damage: () => this.#damage(),
      stop: () => this.#withReplica((replica) => this.#stop(replica)),
      deploy: () => this.#deploy(),
      cancel: () => this.#withTask((replica, id) => replica.cancel(id), 'task: cancelled'),
      forget: () => this.#withTask((replica, id) => replica.forget(id), 'task: forgotten'),
      leave: () => this.#withTask((replica, id) => replica.leave(id), 'task: left'),
      'register again': () => this.#withReplica((replica) => this.#registerAgain(replica)),
      'all down': () => this.#allDown(),
      belief: () => this.#withReplica((replica) => this.#believe(replica)),
    }
  }

  /** Boots all replicas, one after the other, and troubles them from then on. */
  begin(): void {
    const { scenario, timeline } = this.#world
    for (let seat = 0; seat < scenario.replicas; seat++) {
      const delayMs = seat === 0 ? 0 : this.#random.next() * scenario.unitMs
      timeline.at(timeline.now + delayMs, () => this.#boot(seat))
    }
    if (scenario.troubles.length > 0) this.#next()
  }

  /** Kills it after `ms` unless it is dead by then, and boots another life. */
  killLater(replica: Replica, ms: number): void {
    const { timeline } = this.#world
    timeline.at(timeline.now + ms, () => {
      if (!replica.process.isDead && !this.#world.isHealed) this.#crash(replica)
    })
  }

  #next(): void {
    const { timeline, scenario } = this.#world
    const delayMs = -Math.log(1 - this.#random.next()) * scenario.troubleMs
    timeline.at(timeline.now + delayMs, () => {
      if (this.#world.isHealed) return
      this.#troubles[this.#random.pick(scenario.troubles)]()
      this.noteAhead()
      this.#next()
    })
  }

  /** Remembers how far clocks have been off. */
  noteAhead(): void {
    for (const machine of this.#world.machines) {
      this.#world.aheadMs = Math.max(this.#world.aheadMs, Math.abs(machine.aheadMs))
    }
  }

  #withReplica(action: (replica: Replica) => void): void {
    const present = this.#world.present().filter(({ isStopping }) => !isStopping)
    if (present.length > 0) action(this.#random.pick(present))
  }

  #withTask(
    action: (replica: Replica, id: string) => void,
    name: 'task: cancelled' | 'task: forgotten' | 'task: left',
  ): void {
    this.#withReplica((replica) => {
      const ids = [...replica.definitions.keys()]
      if (ids.length === 0) return
      const id = this.#random.pick(ids)
      replica.process.deliver(this.#world.timeline.now, () => {
        if (!replica.definitions.has(id) || replica.isStopping) return
        this.#world.tally.count(name)
        if (name !== 'task: left') this.#world.removing(id)
        action(replica, id)
        if (this.#random.chance(0.4)) this.#registerAgain(replica, id)
      })
    })
  }

  #boot(seat: number): void {
    const world = this.#world
    if (world.isHealed || world.present().some((replica) => replica.seat === seat)) return
    const replica = world.boot(seat, this.#version)
    replica.belief.isLeading = this.#random.chance(0.4)
    const versions = new Set(world.present().map(({ version }) => version))
    if (versions.size > 1) world.tally.count('deploy: old beside new')
  }

  #bootLater(seat: number, afterMs = 0): void {
    const { timeline, scenario } = this.#world
    const delayMs = this.#random.spread(100, 5 * scenario.unitMs)
    timeline.at(timeline.now + afterMs + delayMs, () => this.#boot(seat))
  }

  #crash(replica: Replica): void {
    replica.crash()
    this.#bootLater(replica.seat)
  }

  #pause(replica: Replica): void {
    const { tally, scenario } = this.#world
    const ms = this.#random.spread(1, 10 * Math.max(scenario.unitMs, 10_000))
    tally.count('process: paused')
    const leaseMs = Math.min(...[...replica.definitions.values()].map((task) => task.leaseMs))
    if (ms > leaseMs) tally.count('process: paused longer than a lease')
    this.#world.tell(replica, `is paused for ${Math.round(ms)} ms`)
    replica.process.pause(ms)
  }

  #block(replica: Replica): void {
    const ms = this.#random.spread(10, 20_000)
    replica.process.deliver(this.#world.timeline.now, () => {
      this.#world.tell(replica, `is blocked for ${Math.round(ms)} ms`)
      replica.process.block(ms)
    })
  }

  #sleep(replica: Replica): void {
    const ms = this.#random.spread(1000, 10 * Math.max(this.#world.scenario.unitMs, 10_000))
    this.#world.tally.count('clock: machine slept')
    this.#world.tell(replica, `sleeps for ${Math.round(ms)} ms`)
    replica.process.machine.sleep(ms)
    replica.process.pause(ms)
  }

  #step(): void {
    const { machines, scenario, tally } = this.#world
    const machine = this.#random.pick(machines)
    const ms = Math.round(this.#random.spread(20, Math.min(3_600_000, 20 * scenario.unitMs)))
    const isBack = this.#random.chance(0.5)
    tally.count(isBack ? 'clock: set back' : 'clock: set forwards')
    machine.step(isBack ? -ms : ms)
    for (const replica of this.#world.present()) {
      if (replica.process.machine !== machine) continue
      replica.process.troubledAt = this.#world.timeline.now
      this.#world.tell(replica, `has its clock set by ${isBack ? -ms : ms} ms`)
    }
  }

  #cutOff(replica: Replica): void {
    const { network, timeline, tally } = this.#world
    const ms = this.#random.spread(500, 120_000)
    tally.count('network: one replica cut off')
    this.#world.tell(replica, `is cut off for ${Math.round(ms)} ms`)
    network.cutOffUntil.set(replica.process, timeline.now + ms)
  }

  #outage(): void {
    const { network, timeline, tally } = this.#world
    const ms = this.#random.spread(500, 120_000)
    tally.count('network: outage')
    this.#world.tell(undefined, `is out of reach for ${Math.round(ms)} ms`)
    network.outageUntil = Math.max(network.outageUntil, timeline.now + ms)
  }

  #damage(): void {
    const ids = [...this.#world.store.rows.keys()]
    if (ids.length > 0) this.#world.damage(this.#random.pick(ids), this.#random.spread(500, 60_000))
  }

  /** Stops it, and later starts the same scheduler again or boots another life. */
  #stop(replica: Replica): void {
    const { timeline, scenario, tally } = this.#world
    tally.count('process: stopped')
    const { process, seat } = replica
    process.deliver(timeline.now, () => void replica.stop())
    const delayMs = this.#random.spread(1, 4 * Math.max(scenario.unitMs, 10_000))
    const isAgain = this.#random.chance(0.5)
    const goOn = () => {
      if (process.isDead || this.#world.isHealed) return
      if (isAgain) this.#startAgain(replica)
      else if (replica.hasStopped) {
        process.crash()
        this.#boot(seat)
      } else if (scenario.isFaultFree) timeline.at(timeline.now + 1000, goOn)
      else this.#crash(replica)
    }
    timeline.at(timeline.now + delayMs, goOn)
  }

  /** Perhaps before it has stopped, and perhaps it is stopped once more at once. */
  #startAgain(replica: Replica): void {
    const { timeline } = this.#world
    const { process } = replica
    process.deliver(timeline.now, () => replica.start())
    if (!this.#random.chance(0.3)) return
    const delayMs = this.#random.spread(1, 2000)
    process.deliver(timeline.now + delayMs, () => void replica.stop())
    process.deliver(timeline.now + delayMs + 90_000, () => replica.start())
  }

  #deploy(): void {
    const { scenario, tally, timeline } = this.#world
    if (this.#version + 1 >= scenario.versions.length) return
    this.#version++
    tally.count('deploy: other definitions')
    const isGentle = this.#random.chance(0.6)
    for (const replica of this.#world.present()) {
      const delayMs = this.#random.next() * 3 * scenario.unitMs
      timeline.at(timeline.now + delayMs, () => {
        if (replica.process.isDead || replica.version === this.#version) return
        if (!isGentle) this.#crash(replica)
        else if (!replica.isStopping) this.#stop(replica)
      })
    }
  }

  #registerAgain(replica: Replica, id?: string): void {
    const { timeline, scenario, tally } = this.#world
    const delayMs = this.#random.chance(0.5) ? 0 : this.#random.spread(1, scenario.unitMs)
    replica.process.deliver(timeline.now + delayMs, () => {
      const version = this.#random.pick([replica.version, this.#version])
      for (const definition of scenario.versions[version]!) {
        if (id !== undefined && definition.id !== id) continue
        if (replica.definitions.has(definition.id) || replica.isStopping) continue
        tally.count('task: registered again')
        this.#world.tell(replica, `registers ${definition.id} again`)
        replica.register(definition)
      }
    })
  }

  #allDown(): void {
    const { tally, scenario } = this.#world
    tally.count('process: all down at once')
    const afterMs = this.#random.spread(1000, 20 * scenario.unitMs)
    for (const replica of this.#world.present()) {
      replica.crash()
      this.#bootLater(replica.seat, afterMs)
    }
  }

  #believe({ belief }: Replica): void {
    this.#world.tally.count('leader: belief changed')
    belief.isLeading = this.#random.chance(0.5)
    belief.isBroken = this.#random.chance(0.2)
  }
}
