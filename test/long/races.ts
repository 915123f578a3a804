import { runRaces } from '../faults/race.ts'
import type { Job } from './run.ts'

const ROUNDS = 10_000
/** After as many rounds the service begins on an empty database. */
const ROUNDS_AT_ONCE = 1_000

export const job: Job = {
  title: 'races on payments and agreements, histories linearizable',
  async run({ seed, scale }) {
    const total = Math.ceil(ROUNDS * scale)
    for (let done = 0; done < total; done += ROUNDS_AT_ONCE) {
      const rounds = Math.min(ROUNDS_AT_ONCE, total - done)
      for (const kind of ['sqlite', 'postgres'] as const)
        await runRaces({ kind, seed: seed + done, rounds })
      console.log(`${done + rounds} of each kind`)
    }
    return `${total} of each kind on SQLite, and through two instances on PostgreSQL`
  },
}
