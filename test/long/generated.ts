/** Repeats tests of `npm test` with many other seeds and choices. */
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { attack, sendNowhere } from '../faults/hostile.ts'
import { attackBytes } from '../faults/hostile-bytes.ts'
import { explore } from '../faults/model-explore.ts'
import { runRaces } from '../faults/race.ts'
import { databaseKinds, startService } from '../support/service.ts'
import type { Jobs } from './run.ts'

/** Commands and rounds of races after which the services begin again on empty databases. */
const AT_ONCE = { commands: 50_000, rounds: 1_000 }
/** More seeds than one exploration uses. */
const SEEDS_AT_ONCE = 10_000

const draws = (file: string): boolean =>
  /\/support\/properties\.ts'$/m.test(readFileSync(file, 'utf8'))

export const jobs: Jobs = {
  model: {
    title: 'model commands, SQLite and PostgreSQL (two instances) as the model',
    async run({ seed, scale }) {
      const wanted = 1_000_000 * scale
      let done = 0
      for (let part = 0; done < wanted; part++) {
        const commands = Math.min(AT_ONCE.commands, wanted - done)
        done += await explore({ seed: seed + part * SEEDS_AT_ONCE, commands })
        console.log(`${done} commands`)
      }
      return `${done} commands on each`
    },
  },
  races: {
    title: 'races on payments and agreements, histories linearizable',
    async run({ seed, scale }) {
      const total = Math.ceil(10_000 * scale)
      for (let done = 0; done < total; done += AT_ONCE.rounds) {
        const rounds = Math.min(AT_ONCE.rounds, total - done)
        for (const kind of databaseKinds) await runRaces({ kind, seed: seed + done, rounds })
        console.log(`${done + rounds} of each kind`)
      }
      return `${total} of each kind on SQLite, and through two instances on PostgreSQL`
    },
  },
  hostile: {
    title: 'hostile requests: no 5xx, every error in its shape, invariants hold',
    async run({ seed, scale }) {
      const [requests, damaged] = [Math.ceil(40_000 * scale), Math.ceil(60_000 * scale)]
      for (const kind of databaseKinds) {
        const service = await startService(kind, { send: sendNowhere })
        try {
          await attack(service, { seed, requests })
          const { key = '' } = await service.newAccount()
          await attackBytes(service, { seed, requests: damaged, key })
        } finally {
          await service.stop()
        }
        console.log(kind)
      }
      return `${requests} generated and ${damaged} damaged requests on each database`
    },
  },
  properties: {
    title: 'property tests with other seeds',
    async run({ seed, scale }) {
      const files = globSync('test/**/*.test.ts').filter(draws).sort()
      const rounds = Math.ceil(10 * scale)
      for (let round = 0; round < rounds; round++) {
        const env = { ...process.env, FARTHING_TEST_SEED: `${seed + round}` }
        const args = ['--test', '--test-reporter=dot', ...files]
        await promisify(execFile)(process.execPath, args, { env })
        console.log(`seed ${env.FARTHING_TEST_SEED}`)
      }
      return `${files.length} files, ${rounds} seeds each`
    },
  },
}
