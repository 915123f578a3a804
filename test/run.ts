/** Runs the tests named on the command line, or all of them, with one PostgreSQL server for the whole run. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** All processes load the same code. */
const NODE_COMPILE_CACHE = fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
)

/** Milliseconds for one test, and for one group of tests: what hangs fails, and says what it was. */
const TIMEOUT = 600_000

const EVERY = 'test/**/*.test.ts'
/** Many small files: those of one folder share a process, or half of their time would go into its start. */
const SMALL = 'test/{contract,database,domain,hosted,metrics,webhooks}/**/*.test.ts'

const named = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'farthing-test-run-'))
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-concurrency=3',
    `--test-timeout=${TIMEOUT}`,
    '--test-global-setup=test/support/global-setup.ts',
    ...(named.length > 0 ? named : [...globSync(EVERY, { exclude: [SMALL] }), ...groups()]),
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE } },
)
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1

/** Writes a file for each folder of small files, which loads them, and answers where. */
function groups(): string[] {
  return [...Map.groupBy(globSync(SMALL), dirname)].map(([name, files]) => {
    const group = join(folder, `${name.replaceAll('/', '-')}.test.mjs`)
    const lines = files.sort().map(file => `import '${pathToFileURL(file)}'\n`)
    writeFileSync(group, lines.join(''))
    return group
  })
}
