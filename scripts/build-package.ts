/**
 * Makes farthing-VERSION.tgz. npm packs the README.md and package.json of the folder in which it runs. Those of the
 * clone lead to files that are not in the package and name dependencies that are bundled. So npm runs in a folder that
 * holds the package only.
 */
import { execSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

if (import.meta.main) {
  await import('./build.ts')
  packInto('.')
}

/** Packs dist/ as it is. */
export function packInto(destination: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-pack-'))
  try {
    for (const name of ['bin', 'dist', 'LICENSE'])
      cpSync(name, join(folder, name), { recursive: true })
    cpSync('docs/package.md', join(folder, 'README.md'))
    const { dependencies, devDependencies, scripts, allowScripts, scarfSettings, ...own } =
      JSON.parse(readFileSync('package.json', 'utf8'))
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
    const env = { ...process.env, npm_config_pack_destination: resolve(destination) }
    execSync('npm pack', { cwd: folder, env, stdio: 'inherit' })
  } finally {
    rmSync(folder, { recursive: true })
  }
}
