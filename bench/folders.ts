/** Folders for the data of a run, which are removed when the bench ends. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** On the same disk as the repository. */
const DATA = join(import.meta.dirname, 'data')
const folders = new Set<string>()

process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

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
