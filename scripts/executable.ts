/** Single executables: all of Farthing and Node in one file. Node calls them single executable applications. */
import { spawnSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { shippedFolders } from './bundle.ts'

type Executable = {
  output: string
  /** A program of Node of the same version as this one; by default this one. */
  node?: string
  /**
   * Whether it has compiled code, which makes a start some 0.15 s faster. That code differs in each build, and another
   * kind of machine cannot use it.
   */
  useCodeCache: boolean
}

/** Uses dist/ as it is. */
export function buildExecutable({ output, node = process.execPath, useCodeCache }: Executable) {
  const config = {
    main: 'dist/farthing.cjs',
    output,
    executable: node,
    assets: assets(),
    useCodeCache,
    disableExperimentalSEAWarning: true,
    execArgvExtension: 'env',
  }
  writeFileSync('dist/executable.json', JSON.stringify(config))
  const { status } = spawnSync(process.execPath, ['--build-sea', 'dist/executable.json'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error(`Node could not make ${output}`)
}

/** The files that src/core/files.ts finds inside the executable, by their path there. */
function assets(): Record<string, string> {
  const names = shippedFolders.flatMap(folder =>
    readdirSync(`dist/${folder}`)
      .sort()
      .map(name => `${folder}/${name}`),
  )
  const inDist = [...names, 'platform/database/sqlite/thread.cjs'].map(name => [
    name,
    `dist/${name}`,
  ])
  return { ...Object.fromEntries(inDist), 'package.json': 'package.json' }
}

/** The licences of all that an executable contains. */
export function licences(): string {
  const all = [readFileSync('dist/licences.txt', 'utf8'), 'node', licenceOfNode()]
  return all.join(`\n${'-'.repeat(80)}\n\n`)
}

/** Node's licence is beside its programs, in the archive from nodejs.org and in the npm package. */
function licenceOfNode(): string {
  const folder = dirname(dirname(process.execPath))
  const [file] = globSync(['LICENSE', 'node_modules/node-*/LICENSE'], { cwd: folder })
  if (!file)
    throw new Error(`there is no LICENSE of Node in ${folder}. npm install removes it: run npm ci`)
  return readFileSync(join(folder, file), 'utf8')
}
