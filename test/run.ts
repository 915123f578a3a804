/** Runs the tests named on the command line, or all of them, with one PostgreSQL server for the whole run. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A hundred files load the same code. */
const NODE_COMPILE_CACHE = fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
)

/** Milliseconds for one test, and for one group of tests: what hangs fails, and says what it was. */
const TIMEOUT = 600_000

const named = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=3',
    `--test-timeout=${TIMEOUT}`,
    '--test-global-setup=test/support/global-setup.ts',
    ...(named.length > 0 ? named : ['test/**/*.test.ts']),
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE } },
)
process.exitCode = status ?? 1
