import { explore } from '../faults/model-explore.ts'
import type { Job } from './run.ts'

const COMMANDS = 1_000_000
/** After as many commands the services begin on empty databases. */
const COMMANDS_AT_ONCE = 50_000
/** More seeds than one exploration uses. */
const SEEDS_AT_ONCE = 10_000

export const job: Job = {
  title: 'model commands, SQLite and PostgreSQL (two instances) as the model',
  async run({ seed, scale }) {
    const wanted = COMMANDS * scale
    let done = 0
    for (let part = 0; done < wanted; part++) {
      const commands = Math.min(COMMANDS_AT_ONCE, wanted - done)
      done += await explore({ seed: seed + part * SEEDS_AT_ONCE, commands, postgres: true })
      console.log(`${done} commands`)
    }
    return `${done} commands on each`
  },
}
