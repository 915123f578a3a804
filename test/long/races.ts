import { raceOverHttp, raceShuffled, sendNowhere } from '../faults/race-places.ts'
import { databaseKinds, startService } from '../support/service.ts'
import type { Job } from './run.ts'

const ROUNDS = 10_000
/** For each of these the service begins on an empty database. */
const ROUNDS_AT_ONCE = 1_000

export const job: Job = {
  title: 'races for payments, agreements and keys; histories linearizable',
  async run({ seed, scale }) {
    const rounds = Math.ceil(ROUNDS * scale)
    for (let done = 0; done < rounds; done += ROUNDS_AT_ONCE) {
      const extent = { seed: seed + done, rounds: Math.min(ROUNDS_AT_ONCE, rounds - done) }
      for (const kind of databaseKinds) {
        const service = await startService(kind, { send: sendNowhere })
        await raceOverHttp(service, extent).finally(() => service.stop())
      }
      for (const instances of [1, 2]) await raceShuffled(instances, extent)
      console.log(`${done + extent.rounds} of each kind`)
    }
    return `${rounds} of each kind on ${databaseKinds.join(', ')}, and shuffled in one and two`
  },
}
