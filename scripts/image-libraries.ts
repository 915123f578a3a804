/** The libraries that Node needs on Linux, from Debian's packages. apt-get downloads them, and changes nothing here. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Entry } from './tar.ts'

export type Architecture = 'amd64' | 'arm64'

/**
 * Debian's packages, with the SHA-256 of each. Debian keeps one version of a package: once there is a newer version,
 * `apt-get download` no longer finds ours. gcc-14-base has the licence of three others.
 */
const DATA = new URL('image-libraries.json', import.meta.url)
type Package = { version: string } & Record<Architecture, string>
const packages: Record<string, Package> = JSON.parse(readFileSync(DATA, 'utf8'))

/** Their names and versions. */
export const debianPackages = Object.entries(packages).map(([name, { version }]) => ({
  name,
  version,
}))

const SOURCE =
  'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n'

/** The files of these libraries, and their licences. Throws if Debian has other versions by now. */
export function libraries(architecture: Architecture): Entry[] {
  const folder = folderOf(architecture)
  const archives = Object.entries(packages).map(([name, { version, [architecture]: hash }]) => ({
    path: join(folder, `${name}_${version}_${architecture}.deb`),
    hash,
  }))
  if (!archives.every(({ path }) => existsSync(path))) {
    aptGet(architecture, 'update')
    aptGet(
      architecture,
      'download',
      ...debianPackages.map(({ name, version }) => `${name}=${version}`),
    )
  }
  const unpacked = join(folder, 'files')
  rmSync(unpacked, { recursive: true, force: true })
  for (const { path, hash } of archives) {
    if (createHash('sha256').update(readFileSync(path)).digest('hex') !== hash)
      throw new Error(`${path} is not the file that it should be`)
    execFileSync('dpkg-deb', ['-x', path, unpacked])
  }
  return globSync(['usr/{lib,lib64}/**/*.so*', 'usr/share/doc/*/copyright'], { cwd: unpacked })
    .filter(name => !/\/(gconv|audit)\//.test(name))
    .sort()
    .flatMap(name => entryOf(unpacked, name))
}

/** Writes the versions that Debian has now, with the hashes of its signed lists. */
export function updateLibraries(): void {
  const names = Object.keys(packages)
  for (const architecture of ['amd64', 'arm64'] as const) {
    // apt-get prints no address of a file that is there already.
    rmSync(folderOf(architecture), { recursive: true, force: true })
    aptGet(architecture, 'update')
    const printed = aptGet(architecture, 'download', '--print-uris', ...names)
    for (const name of names) {
      const line = new RegExp(` ${RegExp.escape(name)}_(\\S+)_\\w+\\.deb \\d+ SHA256:(\\w+)`).exec(
        printed,
      )
      const [, version = '', hash = ''] = line ?? []
      if (!hash) throw new Error(`Debian has no ${name} for ${architecture}`)
      packages[name] = {
        ...(packages[name] ?? { amd64: '', arm64: '' }),
        version: decodeURIComponent(version),
        [architecture]: hash,
      }
    }
  }
  writeFileSync(DATA, `${JSON.stringify(packages, null, 2)}\n`)
}

const folderOf = (architecture: Architecture) =>
  resolve('node_modules/.cache/image-libraries', architecture)

/** Leaves out links to folders, such as to a document in another package. */
function entryOf(folder: string, name: string): Entry[] {
  const path = join(folder, name)
  if (lstatSync(path).isSymbolicLink()) return [{ name, link: readlinkSync(path) }]
  return lstatSync(path).isFile() ? [{ name, content: readFileSync(path), mode: 0o755 }] : []
}

/** Runs apt-get with settings of its own. Returns its output. */
function aptGet(architecture: Architecture, ...args: string[]): string {
  const folder = folderOf(architecture)
  for (const name of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'sources.list'), SOURCE)
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Acquire::Languages': 'none',
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::sourcelist': join(folder, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return execFileSync('apt-get', [...options, '-qq', ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
