/** Folders that are removed when the process ends, so that nothing has to stop before them. */
import { accessSync, constants, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
const ENOUGH_BYTES = 1_000_000_000

const folders: string[] = []
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function tempFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(realpathSync(parent), 'farthing-test-'))
  folders.push(folder)
  return folder
}

export const tempDatabase = (): string => `sqlite:${join(tempFolder(), 'farthing.db')}`

/**
 * A new, empty folder for a database that need not survive a power cut. It is in memory if there is room: a commit
 * there takes a fifth of the time.
 */
export const scratchFolder = (): string => tempFolder(hasRoom() ? IN_MEMORY : tmpdir())

function hasRoom(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
  } catch {
    return false
  }
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize > ENOUGH_BYTES
}
