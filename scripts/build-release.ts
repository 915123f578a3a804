/**
 * Makes release/: the package, an executable for each kind of machine, an image for containers, their licences, their
 * components in CycloneDX's form, and the checksums of all these files. Two builds of a commit have the same bytes,
 * except for the compiled code in the executable for the building machine's own kind.
 *
 * `npm run build:release -- --update-libraries` writes the newest libraries of the image into image-libraries.json. If
 * Debian has newer libraries, the build makes all files but the image, and ends with 1.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { buildExecutable, licences } from './executable.ts'
import { imageArchive } from './image.ts'
import { type Architecture, debianPackages, libraries, updateLibraries } from './image-libraries.ts'
import { nodeProgram, type Platform } from './node-programs.ts'
import { type Entry, tar } from './tar.ts'

type Component = { name: string; version: string; 'bom-ref': string }
type Bom = {
  serialNumber: string
  metadata: { component: Component; timestamp: string }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** npm's list without number and time, which vary, and build tools, but with Node and the image's Debian libraries. */
function components(contained: string[], hasImage: boolean): object {
  const { serialNumber: _, ...bom }: Bom = JSON.parse(
    execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    }),
  )
  const { timestamp: _time, ...metadata } = bom.metadata
  const own = metadata.component['bom-ref']
  const refs = new Set([own, ...contained.map(refOf)])
  const version = process.versions.node
  const node = {
    type: 'platform',
    name: 'node',
    version,
    'bom-ref': `node@${version}`,
    // Lists of known vulnerabilities have Node by these names.
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:-:*:*:*`,
    purl: `pkg:generic/node@${version}`,
  }
  const inImage = debianPackages.map(({ name, version }) => ({
    type: 'library',
    name,
    version,
    'bom-ref': `${name}@${version}`,
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?distro=trixie`,
  }))
  return {
    ...bom,
    metadata: { ...metadata, component: { ...metadata.component, name: 'farthing' } },
    components: [
      ...bom.components.filter(each => refs.has(each['bom-ref'])),
      node,
      ...(hasImage ? inImage : []),
    ],
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(each => refs.has(each)) })),
  }
}

function refOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  return `${name}@${version}`
}

const here = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** Makes the executable for `platform`, and an archive of it with its licences. Returns the path of the executable. */
function makeExecutable(platform: Platform): string {
  const program = platform === 'win-x64' ? 'farthing.exe' : 'farthing'
  const folder = `dist/${platform}`
  const output = `${folder}/${program}`
  mkdirSync(folder, { recursive: true })
  buildExecutable({ output, node: nodeProgram(platform), useCodeCache: platform === here })
  const archive = tar([
    { name: program, content: readFileSync(output), mode: 0o755 },
    { name: 'licences.txt', content: licences() },
  ])
  writeFileSync(`${draft}/${name}-${platform}.tar.gz`, gzipSync(archive))
  return output
}

/** The checksums of these files, in the form that `sha256sum --check` reads. */
const checksums = (names: string[]): string =>
  names
    .map(name => {
      const hash = createHash('sha256').update(readFileSync(`${draft}/${name}`))
      return `${hash.digest('hex')}  ${name}\n`
    })
    .join('')

/** Called first, because it may fail: undefined if Debian has other versions by now, or there is no apt-get. */
function readLibraries(): Record<Architecture, Entry[]> | undefined {
  try {
    return { amd64: libraries('amd64'), arm64: libraries('arm64') }
  } catch (error) {
    const { message } = error as Error // of apt-get, which has printed more itself, or of image-libraries.ts
    process.stderr.write(`${message.replace(/^Command failed: (\S+) [\s\S]*/, '$1 failed')}\n`)
    return undefined
  }
}

if (process.argv.includes('--update-libraries')) {
  updateLibraries()
  process.exit()
}
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const name = `farthing-${version}`
// The draft is not in release/, which so always has all files of one build.
const draft = 'node_modules/.cache/release'
rmSync(draft, { recursive: true, force: true })
mkdirSync(draft, { recursive: true })
process.on('exit', () => rmSync(draft, { recursive: true, force: true }))
const contents = readLibraries()
execFileSync('npm', ['pack', '--pack-destination', draft], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
const { contained } = await import('./build.ts')
const executables = { amd64: makeExecutable('linux-x64'), arm64: makeExecutable('linux-arm64') }
makeExecutable('win-x64')
if (contents)
  writeFileSync(
    `${draft}/${name}-image.tar`,
    imageArchive(version, executables, contents, licences()),
  )
const bom = components(contained, contents !== undefined)
writeFileSync(`${draft}/${name}.cdx.json`, `${JSON.stringify(bom, null, 2)}\n`)
writeFileSync(`${draft}/SHA256SUMS`, checksums(readdirSync(draft).sort()))
rmSync('release', { recursive: true, force: true })
renameSync(draft, 'release')
if (!contents) {
  process.stderr.write(
    'release/ has no image, because its libraries cannot be had. If Debian has newer ones, run npm run build:release -- --update-libraries, commit scripts/image-libraries.json, and build again\n',
  )
  process.exitCode = 1
}
