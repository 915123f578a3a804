/** The tests of `npm test` that draw values, with other seeds. */
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Job } from './run.ts'

const ROUNDS = 10

const draws = (file: string): boolean =>
  /\/support\/properties\.ts'$/m.test(readFileSync(file, 'utf8'))

export const job: Job = {
  title: 'property tests with other seeds',
  async run({ seed, scale }) {
    const files = globSync('test/**/*.test.ts').filter(draws).sort()
    const rounds = Math.ceil(ROUNDS * scale)
    for (let round = 0; round < rounds; round++) {
      const env = { ...process.env, FARTHING_TEST_SEED: `${seed + round}` }
      const args = ['--test', '--test-reporter=dot', ...files]
      await promisify(execFile)(process.execPath, args, { env })
      console.log(`seed ${env.FARTHING_TEST_SEED}`)
    }
    return `${files.length} files, ${rounds} seeds each`
  },
}
