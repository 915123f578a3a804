/** Builds what users run, of this checkout or another one. A build happens in a copy, so the checkout stays as it is. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Library from '../src/testing/public.d.ts'
import { newFolder } from './folders.ts'

const HERE = resolve(import.meta.dirname, '..')
const NEEDED = ['bin', 'src', 'scripts', 'LICENSE', 'package.json', 'tsconfig.json']

let built: string | undefined

/** The program of this checkout's package. It is built when it is first asked for. */
export function packaged(): string {
  built ??= buildPackage(HERE)
  return built
}

/** The test library of a package. */
export const loadLibrary = (program: string): Promise<typeof Library> =>
  import(new URL('../dist/testing/index.js', pathToFileURL(program)).href)

/** Returns the program of the package. */
export function buildPackage(checkout: string): string {
  const folder = newFolder()
  for (const name of NEEDED.filter(name => existsSync(join(checkout, name))))
    cpSync(join(checkout, name), join(folder, name), { recursive: true })
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'))
  const PATH = [join(checkout, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const env = { ...process.env, PATH }
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: folder, env })
  // With its sources it would be a clone, and run them.
  rmSync(join(folder, 'src'), { recursive: true })
  return join(folder, 'bin/farthing.js')
}
