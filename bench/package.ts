/** Builds the package that users run, of this checkout or another one. The build works on a copy of the checkout. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Library from '../src/testing/public.d.ts'
import { newFolder } from './folders.ts'

const HERE = resolve(import.meta.dirname, '..')
const NEEDED = ['bin', 'src', 'scripts', 'LICENSE', 'package.json', 'tsconfig.json']

let built: string | undefined

/** The program of this checkout's package, built at the first call. */
export function packaged(): string {
  built ??= buildPackage(HERE)
  return built
}

export const loadLibrary = (program: string): Promise<typeof Library> =>
  import(new URL('../dist/testing/index.js', pathToFileURL(program)).href)

export function buildPackage(checkout: string): string {
  const folder = newFolder()
  for (const name of NEEDED.filter(name => existsSync(join(checkout, name))))
    cpSync(join(checkout, name), join(folder, name), { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'))
  const PATH = [join(checkout, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH }
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: folder, env })
  // Without its sources: with them the program would run as in a clone.
  rmSync(join(folder, 'src'), { recursive: true })
  return join(folder, 'bin/farthing.js')
}
