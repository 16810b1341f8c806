// The end of all faults: clocks are set right, pauses end, nothing is lost any more, and somebody
// is there for every task. From then on the engine has to recover by itself.

import type { Random } from './random.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

/** Heals a world. Who goes on, who is booted anew and who is gone depends on its scenario. */
export function heal(world: World, random: Random): void {
  const { network, scenario, machines } = world
  world.tell(undefined, 'all faults stop')
  world.chaos.noteAhead()
  world.isHealed = true
  network.isHealed = true
  if (!scenario.isFaultFree) for (const machine of machines) machine.repair(random.between(-20, 20))
  const present = world.present()
  for (const { process } of present) process.resume()
  const survivor = scenario.ending === 'one survivor' ? random.pick(present) : undefined
  for (let seat = 0; seat < scenario.replicas; seat++) mend(world, seat, survivor)
  const [first] = world.present()
  if (first) first.belief.isLeading = true
}

function mend(world: World, seat: number, survivor: Replica | undefined): void {
  const { scenario, timeline } = world
  const last = scenario.versions.length - 1
  const replica = world.present().find((other) => other.seat === seat)
  if (scenario.isFaultFree) {
    if (!replica) world.boot(seat, last)
    else if (replica.isStopping) replica.process.deliver(timeline.now, () => replica.start())
    return
  }
  if (survivor && replica !== survivor) {
    replica?.crash()
    return
  }
  const isKept = replica && !replica.isStopping && scenario.ending !== 'all new'
  if (isKept && !(survivor && replica.hasHanging)) {
    registerMissing(world, replica)
    return
  }
  replica?.crash()
  world.boot(seat, last)
}

/** Its code registers again what was cancelled or removed. */
function registerMissing({ scenario, timeline }: World, replica: Replica): void {
  replica.belief.isBroken = false
  for (const definition of scenario.versions[replica.version]!) {
    replica.process.deliver(timeline.now, () => {
      if (!replica.definitions.has(definition.id)) replica.register(definition)
    })
  }
}
