/** Runs random commands on the service and compares every response with the model's. */
import { fc } from '../support/properties.ts'
import { databaseKinds, START } from '../support/service.ts'
import { checkInvariants } from './invariants.ts'
import { newWorld, type World } from './model.ts'
import { modelCommands, restartAll } from './model-commands.ts'
import { visit } from './model-moves.ts'
import { read } from './model-payments.ts'
import { newSubject, type Subject, take } from './model-run.ts'
import { startModelService } from './model-service.ts'

const MOST_COMMANDS = 250
/** Lists of commands per call of fast-check. A larger number would exceed the wanted commands. */
const RUNS = 4

/**
 * Runs at least `commands` commands on both databases, on PostgreSQL through two instances in turn. Throws with the
 * seed and the commands if a response differs. Returns the number of commands.
 */
export async function explore({ seed, commands }: { seed: number; commands: number }) {
  let world = newWorld('nobody', START)
  const clock = () => world.now
  const services = await Promise.all(databaseKinds.map(kind => startModelService(kind, clock)))
  let worlds = 0
  let done = 0

  async function run(list: Iterable<fc.AsyncCommand<World, Subject[]>>): Promise<void> {
    const name = `world-${++worlds}`
    const start = world.now + 1
    world = newWorld(name, start)
    const subjects = await Promise.all(services.map(service => newSubject(service, name)))
    await fc.asyncModelRun(() => ({ model: world, real: subjects }), counted(list))
    await readEverything(world, subjects)
    for (const { service } of subjects)
      await checkInvariants(service.database(), { now: world.now, since: start, settled: true })
  }

  function* counted(list: Iterable<fc.AsyncCommand<World, Subject[]>>) {
    for (const item of list) {
      done += 1
      yield item
    }
  }

  try {
    for (let round = 0; done < commands; round++)
      await fc.assert(fc.asyncProperty(modelCommands(MOST_COMMANDS), run), {
        seed: seed + round,
        numRuns: RUNS,
      })
  } finally {
    for (const service of services) await service.stop()
  }
  return done
}

/** All acknowledged changes are there, and the pages of finished payments lead back. */
async function readEverything(world: World, subjects: Subject[]): Promise<void> {
  if (world.attempts < 2) await restartAll(world, subjects)
  for (const payment of world.payments) {
    await take(world, subjects, read(world, payment.account, payment))
    await take(world, subjects, visit(world, payment, 'open'))
  }
}
