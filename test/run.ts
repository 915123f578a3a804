/** Runs the tests named on the command line, or all of them, with one PostgreSQL server for the whole run. */
import { spawnSync } from 'node:child_process'

const named = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-global-setup=test/support/global-setup.ts',
    ...(named.length > 0 ? named : ['test/**/*.test.ts']),
  ],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1
