/** The files that come with the code: migrations, assets, and the code of threads. */
import { readdirSync, readFileSync } from 'node:fs'
import { getAsset, getAssetKeys, isSea } from 'node:sea'
import { Worker } from 'node:worker_threads'

const INSIDE = 'executable:'

/** In a clone this file is `src/core/files.ts`. Elsewhere it is part of a bundle, in the folder of the code. */
export const isSource = import.meta.url.endsWith('.ts')

/** The folder of the code, with a slash at its end: `src/`, `dist/`, or the inside of the single executable. */
export const ROOT = isSea()
  ? new URL(`${INSIDE}/`)
  : new URL(isSource ? '../' : './', import.meta.url)

const keyOf = (file: URL): string => file.pathname.slice(1)

/** Throws if there is no such file. */
export const readShipped = (file: URL): Buffer =>
  file.protocol === INSIDE ? Buffer.from(getAsset(keyOf(file))) : readFileSync(file)

export function listShipped(folder: URL): string[] {
  if (folder.protocol !== INSIDE) return readdirSync(folder)
  const within = getAssetKeys().filter(key => key.startsWith(keyOf(folder)))
  return within.map(key => key.slice(keyOf(folder).length)).filter(name => !name.includes('/'))
}

/** Starts the thread whose code is the file of this name below ROOT, such as `platform/database/sqlite/thread`. */
export function startThread(name: string): Worker {
  if (isSea()) return new Worker(getAsset(`${name}.cjs`, 'utf8'), { eval: true })
  return new Worker(new URL(`${name}.${isSource ? 'ts' : 'cjs'}`, ROOT))
}
