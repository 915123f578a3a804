/** The libraries that Node needs on Linux, from Debian's packages. Downloads them with apt-get, changing nothing of it. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import type { Entry } from './tar.ts'

export type Architecture = 'amd64' | 'arm64'

/**
 * With the SHA-256 of each. Debian keeps one version of a package: when there is a newer one, `apt-get download` finds
 * this one no more, and the new one and its hashes belong here.
 */
const PACKAGES: { file: string; hashes: Record<Architecture, string> }[] = [
  {
    file: 'libc6_2.41-12+deb13u5',
    hashes: {
      amd64: 'b59b0625cd1a791375d40dab23a4d5d3d0641e3d0a773501becdc3725b7f99cf',
      arm64: '0966fc3da1a26cc57647c68b5736f791b6e7eb498173a7993f63b6c89b4ed4f5',
    },
  },
  {
    file: 'libgcc-s1_14.2.0-19',
    hashes: {
      amd64: '3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150',
      arm64: '1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851',
    },
  },
  {
    file: 'libstdc++6_14.2.0-19',
    hashes: {
      amd64: 'ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0',
      arm64: '6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee',
    },
  },
  {
    file: 'libatomic1_14.2.0-19',
    hashes: {
      amd64: '212b399aae2f7299203d261a57e49372e09565a9a5ea971905f94a3960366c05',
      arm64: '7ccff90234484bf21ae5ecb79d25b6a84b2f4038f65dd139085b2e3a937cd8dc',
    },
  },
  // It has the licence of the three above.
  {
    file: 'gcc-14-base_14.2.0-19',
    hashes: {
      amd64: '5b6825de4263824b78c4c51f6476414f3b4e89c2ab63e81dc8b9b5501e867cf6',
      arm64: '34ee90679b018c0e64234747a4c4c0ae6b7f63541115037465a8627c2dfbc594',
    },
  },
]

/** Their names and versions. */
export const debianPackages = PACKAGES.map(({ file }) => file.split('_'))

const SOURCE =
  'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n'

/** The files of these libraries, and their licences. */
export function libraries(architecture: Architecture): Entry[] {
  const folder = resolve('node_modules/.cache/image-libraries', architecture)
  const archives = PACKAGES.map(({ file }) => join(folder, `${file}_${architecture}.deb`))
  if (!archives.every(archive => existsSync(archive))) download(folder, architecture)
  const unpacked = join(folder, 'files')
  archives.forEach((archive, i) => {
    const hash = createHash('sha256').update(readFileSync(archive)).digest('hex')
    if (hash !== PACKAGES[i]?.hashes[architecture])
      throw new Error(`${archive} is not the file that it should be`)
    execFileSync('dpkg-deb', ['-x', archive, unpacked])
  })
  return globSync(['usr/{lib,lib64}/**/*.so*', 'usr/share/doc/*/copyright'], { cwd: unpacked })
    .filter(name => !/\/(gconv|audit)\//.test(name))
    .sort()
    .flatMap(name => entryOf(unpacked, name))
}

/** Links to folders, such as a document that another package has, are left out. */
function entryOf(folder: string, name: string): Entry[] {
  const path = join(folder, name)
  if (lstatSync(path).isSymbolicLink()) return [{ name, link: readlinkSync(path) }]
  return lstatSync(path).isFile() ? [{ name, content: readFileSync(path), mode: 0o755 }] : []
}

function download(folder: string, architecture: Architecture): void {
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
  const get = (...args: string[]) =>
    execFileSync('apt-get', [...options, '-qq', ...args], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
  get('update')
  get('download', ...PACKAGES.map(({ file }) => file.replace('_', '=')))
}
