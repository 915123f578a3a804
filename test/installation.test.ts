/**
 * Links simulate the states in which npm's options leave node_modules, so no registry is needed. The first test runs
 * npm, the others run its scripts as npm does, in a third of the time. Without an old Node, the new one runs as an old.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { tempFolder } from './support/folders.ts'
import { olderNode } from './support/packed.ts'

const ROOT = join(import.meta.dirname, '..')
const folder = tempFolder()

/** Folders of the machine's own programs, without those of node_modules that npm test puts before them. */
const MACHINE = (process.env.PATH ?? '').split(delimiter).filter(path => !/node_modules/.test(path))
/** `old` is older than Farthing needs. */
type NodeAge = 'old' | 'new'

function environment(age: NodeAge) {
  const { node, options } =
    age === 'old' ? olderNode() : { node: realpathSync(process.execPath), options: [] }
  return {
    PATH: [dirname(node), ...MACHINE].join(delimiter),
    HOME: folder,
    PORT: 'stop', // a start that gets as far as its configuration ends there
    NODE_OPTIONS: options.join(' '),
  }
}

const run = (cwd: string, age: NodeAge, command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd, env: environment(age), encoding: 'utf8' })

function script(path: string, age: NodeAge, name: string) {
  const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const line = `PATH="$PWD/node_modules/.bin:$PATH"; ${scripts[name]}`
  return run(path, age, 'sh', '-c', line)
}

const npmRun = (path: string, age: NodeAge, name: string) => run(path, age, 'npm', 'run', name)

/** A clone in which npm has installed the packages for which `isInstalled` returns true. */
function clone(name: string, isInstalled: (path: string, dev: boolean) => boolean): string {
  const path = join(folder, name)
  for (const part of ['bin', 'scripts', 'package.json'])
    cpSync(join(ROOT, part), join(path, part), { recursive: true })
  // A start that goes on runs these sources. The assets are not built.
  mkdirSync(join(path, 'src/platform/web/assets'), { recursive: true })
  symlinkSync(join(ROOT, 'src/cli'), join(path, 'src/cli'))
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  for (const [at, { dev = false }] of Object.entries<{ dev?: boolean }>(lock.packages)) {
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(at) || !isInstalled(at, dev)) continue
    if (!existsSync(join(ROOT, at))) continue // for another system
    mkdirSync(dirname(join(path, at)), { recursive: true })
    symlinkSync(join(ROOT, at), join(path, at))
  }
  return path
}

const withoutDev = (name: string) => clone(name, (_path, dev) => !dev)

function withoutScripts(name: string): string {
  const path = clone(name, at => at !== 'node_modules/node')
  // The package's install script would put the binary into bin/.
  mkdirSync(join(path, 'node_modules/node'))
  return path
}

const BAD_PORT = /^farthing: PORT must be a whole number from 0 to 65535/
const NEEDED = /Node 24\.18\.1 or newer is needed, this is \d+\.\d+\.\d+\./

type Ended = { status: number | null; stderr: string }

function saysOnce(
  { status, stderr: output }: Ended,
  expected: number,
  ...words: (string | RegExp)[]
): void {
  assert.equal(status, expected, output)
  const lines = output.split('\n').filter(line => line.startsWith('farthing: '))
  assert.equal(lines.length, 1, output)
  for (const word of words) assert.match(lines[0] ?? '', new RegExp(word))
  assert.doesNotMatch(output, /^ +at |Error/m, 'no stack trace')
}

for (const age of ['old', 'new'] as const)
  test(`Without development dependencies the assets’ script succeeds and a start says how to add them (${age} Node)`, () => {
    const path = withoutDev(`without-dev-${age}`)
    const cause = /because development dependencies were left out .* npm ci --include=dev$/
    const runScript = age === 'old' ? npmRun : script
    const notBuilt = /^farthing: The files that the pages link to were not built, /
    saysOnce(runScript(path, age, 'build:assets'), 0, notBuilt, cause)
    const missing = age === 'old' ? NEEDED : /pages link to are missing/
    saysOnce(runScript(path, age, 'start'), 1, missing, cause)
  })

test('Without install scripts an old Node is told how to run them', () => {
  const path = withoutScripts('without-scripts-old')
  const cause = /because install scripts were left out .* npm ci --ignore-scripts=false$/
  saysOnce(script(path, 'old', 'start'), 1, NEEDED, cause)
  saysOnce(script(path, 'old', 'build:assets'), 0, NEEDED, cause)
})

test('Without install scripts a new Node is told to build the assets, after which Farthing starts', () => {
  const path = withoutScripts('without-scripts-new')
  const cause = /because install scripts were left out .* npm run build:assets$/
  saysOnce(script(path, 'new', 'start'), 1, cause)
  // Copies the assets of this clone, because a build takes seconds and test/package.test.ts has one.
  const built = 'src/platform/web/assets/built'
  const copy = `cpSync(${JSON.stringify(join(ROOT, built))}, '${built}', { recursive: true })`
  const build = `import { cpSync } from 'node:fs'\n${copy}\n`
  writeFileSync(join(path, 'scripts/build-assets.ts'), build)
  const prepared = script(path, 'new', 'build:assets')
  assert.equal(prepared.status, 0, prepared.stderr)
  saysOnce(script(path, 'new', 'start'), 1, BAD_PORT)
})

test('Without packages a start and the scripts of a clone say to install them', () => {
  const path = clone('without-packages', () => false)
  const missing = /^farthing: The packages are not installed/
  saysOnce(script(path, 'new', 'start'), 1, missing)
  saysOnce(script(path, 'old', 'test'), 1, missing)
  saysOnce(script(path, 'old', 'receive-webhooks'), 1, missing)
})

test('The file of a complete clone is a program on an old Node too, and passes on signals and the exit code', async () => {
  const path = clone('complete', () => true)
  const built = 'src/platform/web/assets/built'
  symlinkSync(join(ROOT, built), join(path, built))
  saysOnce(run(path, 'old', 'bin/farthing.js'), 1, BAD_PORT)
  const env = { ...environment('old'), PORT: '0', DATABASE_URL: 'sqlite::memory:' }
  const program = spawn('bin/farthing.js', {
    cwd: path,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(program, 'exit')
  const [first] = await once(program.stdout, 'data')
  assert.match(String(first), /^Farthing is listening on /)
  program.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})

test('A package starts with a newer Node beside it, and advises an old one to install that', () => {
  const path = join(folder, 'user/node_modules/farthing')
  for (const part of ['bin', 'package.json'])
    cpSync(join(ROOT, part), join(path, part), { recursive: true })
  const list = () => run(path, 'old', 'node', 'bin/farthing.js', 'keys', 'list')
  assert.equal(list().stdout, '')
  saysOnce(list(), 1, NEEDED, /Run: npm install --save-dev node@26$/)
  mkdirSync(join(path, '../node/bin'), { recursive: true })
  writeFileSync(join(path, '../node/bin/node'), '#!/bin/sh\necho "$@"\nexit 3\n', { mode: 0o755 })
  const { status, stdout } = list()
  assert.deepEqual([status, stdout], [3, `${join(path, 'bin/farthing.js')} keys list\n`])
  writeFileSync(join(path, '../node/bin/node'), '#!/no/such/loader\n')
  saysOnce(list(), 1, /cannot be started: .* Install Node 26 itself/)
  saysOnce(run(path, 'new', 'node', 'bin/farthing.js'), 1, /^farthing: This package was not/)
})

test('A Node is too old up to 24.18.0, whose faults in TLS and http.Agent were mended after it', () => {
  const { href } = pathToFileURL(join(ROOT, 'bin/installation.js'))
  const tooOld = ['22.30.0', '24.15.0', '24.18.0']
  const good = ['24.18.1', '24.19.0', '25.0.0', '26.10.0', '27.0.0-nightly']
  const program = `import { buildProblem } from '${href}'
    for (const value of ${JSON.stringify([...tooOld, ...good])}) {
      Object.defineProperty(process.versions, 'node', { value })
      console.log(buildProblem() ?? 'good')
    }`
  const args = ['--input-type=module', '--eval', program]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const told = stdout.trim().split('\n')
  for (const version of tooOld) assert.match(told.shift() ?? '', NEEDED, version)
  assert.deepEqual(
    told,
    good.map(() => 'good'),
  )
})

test('The Node that is asked for is the one in package.json', () => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  assert.equal(engines.node, '>=24.18.1')
})
