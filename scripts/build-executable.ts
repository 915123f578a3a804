/**
 * Makes release/farthing: all of Farthing and the Node that runs this script in one file, for this kind of machine.
 * Node calls it a single executable application. With the argument `--built` it takes dist/ as it is.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

if (!process.argv.includes('--built')) await import('./build.ts')

/** What src/core/files.ts finds inside the executable, by its path there. */
function assets(): Record<string, string> {
  const folders = ['platform/database/migrations', 'platform/web/assets/built']
  const names = folders.flatMap(folder =>
    readdirSync(`dist/${folder}`).map(name => `${folder}/${name}`),
  )
  const inDist = [...names, 'platform/database/sqlite/thread.cjs'].map(name => [
    name,
    `dist/${name}`,
  ])
  return { ...Object.fromEntries(inDist), 'package.json': 'package.json' }
}

/** Node's licence is beside its programs, in the archive from nodejs.org and in the npm package. */
function licenceOfNode(): string {
  const folder = dirname(dirname(process.execPath))
  const [file] = globSync(['LICENSE', 'node_modules/node-*/LICENSE'], { cwd: folder })
  if (!file)
    throw new Error(`there is no LICENSE of Node in ${folder}. npm install removes it: run npm ci`)
  return readFileSync(join(folder, file), 'utf8')
}

mkdirSync('release', { recursive: true })
const config = {
  main: 'dist/farthing.cjs',
  output: 'release/farthing',
  assets: assets(),
  // Compiled code is in it, so that already its first start is fast.
  useCodeCache: true,
  disableExperimentalSEAWarning: true,
  execArgvExtension: 'env',
}
writeFileSync('dist/executable.json', JSON.stringify(config))
const { status } = spawnSync(process.execPath, ['--build-sea', 'dist/executable.json'], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
if (status !== 0) throw new Error('Node could not make the executable')
const licences = [readFileSync('dist/licences.txt', 'utf8'), 'node', licenceOfNode()]
writeFileSync('release/licences.txt', licences.join(`\n${'-'.repeat(80)}\n\n`))
