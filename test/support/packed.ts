/** The package as `npm pack` makes it in a clone. */
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { tempFolder } from './folders.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const NEEDED = 'bin src scripts docs/package.md package.json README.md LICENSE tsconfig.json'

/** For tsc and esbuild, which are Go programs: they end before collecting garbage would pay. */
export const WITHOUT_COLLECTION = { ...process.env, GOGC: 'off' }

/** Copies the files that a build needs, because it replaces files that other tests read. Returns the copy. */
function copyOfClone(folder: string): string {
  const source = join(folder, 'source')
  for (const name of NEEDED.split(' '))
    cpSync(join(ROOT, name), join(source, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  return source
}

let packed: ReturnType<typeof pack> | undefined

/** Packs a copy of the clone once for all files of this process. They may add files, but change none. */
export function packOnce() {
  packed ??= pack(tempFolder())
  return packed
}

/**
 * Packs a copy of the clone in which an earlier npm pack was interrupted. `source` is the copy, with `dist/` and with
 * the README and package.json of the clone restored.
 */
export async function pack(folder: string) {
  const source = copyOfClone(folder)
  await run(process.execPath, ['scripts/packed-files.ts', 'package'], { cwd: source })
  await run('npm', ['pack', '--pack-destination', folder], { cwd: source, env: WITHOUT_COLLECTION })
  const name = readdirSync(folder).find(file => file.endsWith('.tgz')) ?? ''
  return { source, tarball: join(folder, name) }
}

/** Installs the tarball as a user does, in a new folder. Returns the folder and the output of npm. */
export async function install(tarball: string, folder: string) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"name":"user","version":"1.0.0"}\n')
  const args = ['install', '--no-audit', '--prefer-offline', tarball]
  const { stdout, stderr } = await run('npm', args, { cwd: folder })
  return { folder, output: stdout + stderr }
}

let older: { node: string; options: string[] } | undefined

/** The Node of the machine if it has npm and is older than 24, otherwise this Node under an older version number. */
export function olderNode() {
  older ??= findOlderNode()
  return older
}

function findOlderNode() {
  const paths = (process.env.PATH ?? '').split(delimiter).filter(path => !/node_modules/.test(path))
  const withNpm = paths.filter(path => ['node', 'npm'].every(name => existsSync(join(path, name))))
  for (const node of withNpm.map(path => join(path, 'node'))) {
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    if (Number.parseInt(stdout.slice(1), 10) < 24) return { node, options: [] }
  }
  // A program that npm starts has that version number too. It starts a newer Node, which must be another file.
  const change = `
    Object.defineProperty(process.versions, 'node', { value: '22.18.0' })
    if (!/npm(-cli\\.js)?$/.test(process.argv[1] ?? '')) {
      delete process.env.NODE_OPTIONS
      process.execPath = '/dev/null'
    }`
  const url = `data:text/javascript,${encodeURIComponent(change)}`
  return { node: process.execPath, options: ['--import', url] }
}
