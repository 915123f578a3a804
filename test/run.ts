/**
 * Runs the test files named on the command line, or all, with one PostgreSQL server for the whole run. `--changed` chooses
 * those that concern what has changed since main, and `--times` says afterwards which files took the most.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { changedFiles, testsConcerning } from './support/concerning.ts'
import { createHangs } from './support/hangs.ts'
import { cpuSeconds } from './support/process-tree.ts'
import { measured, table } from './support/times.ts'

/** All test processes load the same code, so they share compiled code. */
const NODE_COMPILE_CACHE = fileURLToPath(
  new URL('../node_modules/.cache/node-compile', import.meta.url),
)

/** Milliseconds between looks for tests that hang. */
const LOOK_EVERY = 1_000

const EVERY = 'test/**/*.test.ts'

/**
 * Files that share a process, in the order in which the processes start. A process of its own costs a file more than
 * a second, until the service has started in it and has responded once. Those that take the most processor time are first,
 * so that none runs alone at the end. A file belongs to the first group that names it.
 */
const GROUPS: Record<string, string> = {
  // These wait most of the time: for time-outs, or for receivers that are slow or silent.
  absence: 'test/faults/process/{deleted-file,one-database,postgres-away}.test.ts',
  probe: 'test/contract/check/probe.test.ts',
  webhooks: 'test/contract/webhooks/*.test.ts',
  // All share one browser.
  windows: 'test/browser/*.test.ts',
  tools: 'test/contract/{agreements,authorise,check,console,disputes}/*.test.ts',
  processes: 'test/faults/process/*.test.ts',
  contract: 'test/contract/{*,{hosted,http,payments,recorder,refunds,retention}/*}.test.ts',
  // Before the group whose pattern matches these files too.
  services: 'test/cli/{doctor,listen}.test.ts',
  commands: 'test/{cli/*,command-line,start}.test.ts',
  control: 'test/contract/{accounts,control}/*.test.ts',
  // These count the objects of the heap, which takes seconds once a process has loaded the service.
  heap: 'test/webhooks/{resolve,slots}.test.ts',
  parts: 'test/{database,domain,hosted,metrics,recorder,signature,webhooks}/*.test.ts',
  package: 'test/{executable,installation,package}.test.ts',
  faults: 'test/faults/*.test.ts',
  // Processes of other languages, each for a second or two.
  languages: 'test/testing/language*.test.ts',
  library:
    'test/{testing/*,config,documents,log,openapi-difference,run,seed,settings,start-farthing,tidy}.test.ts',
}

/** Many tests wait, for time-outs or for other processes, so four more processes than there are cores keep them all busy. */
const CONCURRENCY = availableParallelism() + 4

const LEFT_OVER = new URL('support/left-over.ts', import.meta.url).href
const ENVIRONMENT = new URL('support/environment.ts', import.meta.url).href
const PROGRESS = new URL('support/progress.ts', import.meta.url).href

const given = process.argv.slice(2)
const times = given.includes('--times')
const changed = given.includes('--changed')
const named = given.filter(argument => !['--times', '--changed'].includes(argument))
const folder = mkdtempSync(join(tmpdir(), 'farthing-test-run-'))
const output = join(folder, 'times')
const progress = join(folder, 'progress')
const began = performance.now()
const paths = chosen()
if (paths.length > 0) await run(paths)
else process.stdout.write('No test concerns what has changed since main.\n')
rmSync(folder, { recursive: true })

/** A named file has a group of its own, because only groups note their progress and measure. */
function chosen(): string[] {
  if (changed) return [...grouped(testsConcerning(changedFiles())), ...named]
  if (named.length === 0) return grouped(globSync(EVERY))
  const files = named.flatMap(name => (globSync(name).length > 0 ? globSync(name) : name))
  return files.map((name, nth) => (name.endsWith('.test.ts') ? group(`${nth}`, [name]) : name))
}

async function run(paths: string[]): Promise<void> {
  mkdirSync(progress)
  const runner = spawn(
    process.execPath,
    [
      '--test',
      `--test-concurrency=${CONCURRENCY}`,
      '--test-global-setup=test/support/global-setup.ts',
      '--import=./test/support/timers.ts',
      ...paths,
    ],
    {
      stdio: 'inherit',
      env: {
        ...process.env,
        NODE_COMPILE_CACHE,
        FARTHING_TEST_PROGRESS: progress,
        ...(times && { FARTHING_TEST_TIMES: output }),
      },
    },
  )
  process.on('SIGINT', () => {}) // the runner gets the signal too, and stops PostgreSQL
  const endHanging = createHangs(progress)
  const looking = setInterval(() => {
    for (const sentence of endHanging()) process.stderr.write(`${sentence}\n`)
  }, LOOK_EVERY)
  const [status] = await once(runner, 'close')
  clearInterval(looking)
  process.exitCode = status ?? 1
  if (!times) return
  const wall = (performance.now() - began) / 1000
  process.stdout.write(
    `\n${table(readFileSync(output, 'utf8'))}\nAll: ${cpuSeconds(process.pid).toFixed(0)} s of processor time, with PostgreSQL, without most of Chromium, in ${wall.toFixed(0)} s\n`,
  )
}

function grouped(files: string[]): string[] {
  const alone = new Set(files)
  const groups = Object.entries(GROUPS).flatMap(([name, pattern], nth) => {
    const members = globSync(pattern)
      .filter(file => alone.delete(file))
      .sort()
    // The test runner sorts the paths.
    return members.length > 0 ? [group(`${String(nth).padStart(2, '0')}-${name}`, members)] : []
  })
  return [...groups, ...[...alone].map((file, nth) => group(`99-${nth}`, [file]))]
}

function group(name: string, files: string[]): string {
  const path = join(folder, `${name}.test.mjs`)
  const urls = new Map(files.map(file => [file, pathToFileURL(file).href]))
  const imports = [...urls.values()].map(url => `import ${JSON.stringify(url)}\n`)
  const last = `import { endWhatIsKept } from '${LEFT_OVER}'\nendWhatIsKept()\n`
  const first = `import '${ENVIRONMENT}'\nimport '${PROGRESS}'\n`
  writeFileSync(path, `${first}${times ? measured(urls) : imports.join('')}${last}`)
  return path
}
