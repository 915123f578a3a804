/**
 * Makes release/: the executable, the package, their licences, the components of both in CycloneDX's form, and the
 * checksums of all of these.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

type Component = { name: string; version: string; 'bom-ref': string }
type Bom = {
  metadata: { component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/** The list of npm, without what only builds and tests need, and with Node. */
function components(contained: string[]): Bom {
  const bom: Bom = JSON.parse(
    execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    }),
  )
  const own = bom.metadata.component['bom-ref']
  const refs = new Set([own, ...contained.map(refOf)])
  const version = process.versions.node
  const node = {
    type: 'platform',
    name: 'node',
    version,
    'bom-ref': `node@${version}`,
    // By these names the lists of known vulnerabilities have it.
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:-:*:*:*`,
    purl: `pkg:generic/node@${version}`,
  }
  return {
    ...bom,
    metadata: { ...bom.metadata, component: { ...bom.metadata.component, name: 'farthing' } },
    components: [...bom.components.filter(each => refs.has(each['bom-ref'])), node],
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(each => refs.has(each)) })),
  }
}

function refOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  return `${name}@${version}`
}

/** In the form that `sha256sum --check` reads. */
const checksums = (names: string[]): string =>
  names
    .map(name => {
      const hash = createHash('sha256').update(readFileSync(`release/${name}`))
      return `${hash.digest('hex')}  ${name}\n`
    })
    .join('')

rmSync('release', { recursive: true, force: true })
await import('./build-executable.ts')
const { contained } = await import('./build.ts')
execFileSync('npm', ['pack', '--pack-destination', 'release'], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
writeFileSync('release/farthing.cdx.json', `${JSON.stringify(components(contained), null, 2)}\n`)
writeFileSync('release/SHA256SUMS', checksums(readdirSync('release').sort()))
