/** Folders for the data of a run, which are removed when the bench ends. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Beside the repository's own data, on the same disk as it. */
const DATA = join(import.meta.dirname, 'data')
const folders = new Set<string>()

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A folder on a real disk. */
export function newFolder(): string {
  mkdirSync(DATA, { recursive: true })
  const folder = mkdtempSync(join(DATA, 'run-'))
  folders.add(folder)
  return folder
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  folders.delete(folder)
}
