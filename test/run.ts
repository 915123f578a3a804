/** Runs the test files named on the command line, or all, with one PostgreSQL server for the whole run. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** All test processes load the same code, so they share compiled code. */
const NODE_COMPILE_CACHE = fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
)

/** Milliseconds for a test or a group of tests, so that a test that hangs fails and is named. */
const TIMEOUT = 600_000

const EVERY = 'test/**/*.test.ts'
/** Small files. Those of a folder share a process, because its start would take half of their time. */
const SMALL = 'test/{contract,database,domain,hosted,metrics,webhooks}/**/*.test.ts'

/** Some tests wait for time-outs, so one more process than there are cores keeps them all busy. */
const CONCURRENCY = availableParallelism() + 1

const named = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'farthing-test-run-'))
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TIMEOUT}`,
    '--test-global-setup=test/support/global-setup.ts',
    ...(named.length > 0 ? named : [...globSync(EVERY, { exclude: [SMALL] }), ...groups()]),
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE } },
)
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1

/** Writes a file per folder of small files that imports them. Returns the paths. */
function groups(): string[] {
  return [...Map.groupBy(globSync(SMALL), dirname)].map(([name, files]) => {
    const group = join(folder, `${name.replaceAll('/', '-')}.test.mjs`)
    const lines = files.sort().map(file => `import '${pathToFileURL(file)}'\n`)
    writeFileSync(group, lines.join(''))
    return group
  })
}
