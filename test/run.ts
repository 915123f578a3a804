/** Runs the test files named on the command line, or all, with one PostgreSQL server for the whole run. */
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** All test processes load the same code, so they share compiled code. */
const NODE_COMPILE_CACHE = fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
)

/** Milliseconds for a test or a group of tests, so that a test that hangs fails and is named, also on a busy machine. */
const TIMEOUT = 1_800_000

const EVERY = 'test/**/*.test.ts'

/**
 * Files that share a process, in the order in which the processes start. A process of its own costs a file more than
 * a second, until the service has started in it and has responded once. The longest are first and none is very long, so
 * that none runs alone at the end. A file belongs to the first group that names it.
 */
const GROUPS: Record<string, string> = {
  // It waits most of the time.
  absence: 'test/faults/process/{deleted-file,one-database,postgres-away}.test.ts',
  tools: 'test/contract/{agreements,authorise,check,console,disputes}/*.test.ts',
  processes: 'test/faults/process/*.test.ts',
  windows: 'test/browser/{accessibility,console*}.test.ts',
  webhooks: 'test/contract/webhooks/*.test.ts',
  services: 'test/cli/{doctor,listen}.test.ts',
  package: 'test/{executable,installation,package}.test.ts',
  commands: 'test/{cli/*,command-line,start}.test.ts',
  control: 'test/contract/{accounts,control}/*.test.ts',
  payments: 'test/contract/{hosted,payments}/*.test.ts',
  contract: 'test/contract/{*,{http,recorder,refunds,retention}/*}.test.ts',
  journeys: 'test/browser/{documentation,journeys,safety}.test.ts',
  // They count the objects of the heap, which takes seconds once a process has loaded the service.
  heap: 'test/webhooks/{resolve,slots}.test.ts',
  parts: 'test/{database,domain,hosted,metrics,recorder,signature,webhooks}/*.test.ts',
  // Processes of other languages, each for a second or two.
  languages: 'test/testing/language*.test.ts',
  library:
    'test/{testing/*,config,documents,log,openapi-difference,seed,settings,start-farthing,tidy}.test.ts',
  faults: 'test/faults/*.test.ts',
}

/** Many tests wait, for time-outs or for other processes, so two more processes than there are cores keep them all busy. */
const CONCURRENCY = availableParallelism() + 2

const named = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'farthing-test-run-'))
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${CONCURRENCY}`,
    `--test-timeout=${TIMEOUT}`,
    '--test-global-setup=test/support/global-setup.ts',
    ...(named.length > 0 ? named : everything()),
  ],
  { stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE } },
)
rmSync(folder, { recursive: true })
process.exitCode = status ?? 1

/** Writes a file per group that imports its files. Returns the paths of these and of the files in no group. */
function everything(): string[] {
  const alone = new Set(globSync(EVERY))
  const groups = Object.entries(GROUPS).map(([name, pattern], nth) => {
    const files = globSync(pattern)
      .filter(file => alone.delete(file))
      .sort()
    // The test runner sorts the paths.
    const group = join(folder, `${String(nth).padStart(2, '0')}-${name}.test.mjs`)
    writeFileSync(group, files.map(file => `import '${pathToFileURL(file)}'\n`).join(''))
    return group
  })
  return [...groups, ...alone]
}
