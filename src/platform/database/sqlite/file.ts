import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Readable by the owner only: the database holds the signing keys of webhooks. */
export const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/** Throws for a folder, and for a pipe or a device, from which SQLite would wait for bytes for ever. */
export function refuseSpecial(path: string): void {
  const stats = statSync(path)
  if (stats.isDirectory())
    throw new Error(
      `${path} is a folder: name a file in it, such as sqlite:${join(path, 'farthing.db')}`,
    )
  if (!stats.isFile())
    throw new Error(`${path} is a pipe, a socket or a device: set DATABASE_URL to a file`)
}

/** Whether a file is mounted without its folder, where its write-ahead log is made. Linux writes spaces as \040. */
export function isMountedAlone(path: string, mounts = readMounts()): boolean {
  if (!existsSync(path)) return false
  const file = realpathSync(path).replaceAll(' ', '\\040')
  return mounts.split('\n').some(line => line.split(' ')[4] === file)
}

function readMounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {
    return ''
  }
}

/** Milliseconds between two looks at the file. */
const CHECK_INTERVAL = 1_000

/**
 * Calls `onGone` once when the file or its write-ahead log was deleted, moved or replaced: later writes would be lost.
 * Looks at paths, because closing a descriptor would release SQLite's locks. Returns a function that ends the watch.
 */
export function watchFile(path: string, onGone: (error: Error) => void): () => void {
  const file = resolve(path)
  const files = [createLook(file), createLook(`${file}-wal`)] // SQLite makes the log with the first write
  const looking = setInterval(() => {
    const gone = files.find(look => look.isGone())
    if (!gone) return
    clearInterval(looking)
    onGone(
      new Error(`the SQLite file ${gone.path} was deleted or replaced, so no write would be kept`),
    )
  }, CHECK_INTERVAL).unref()
  return () => clearInterval(looking)
}

/** `isGone` compares with the first look that found a file. */
function createLook(path: string) {
  const look = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  let opened = look()
  function isGone(): boolean {
    try {
      const now = look()
      opened ??= now
      return opened !== undefined && (now?.ino !== opened.ino || now.dev !== opened.dev)
    } catch {
      return false
    }
  }
  return { path, isGone }
}

/** Creates the file and its folders if they are missing. SQLite reports problems with a file that exists. */
export function makeFile(path: string): void {
  makeFolder(dirname(path))
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY))
  } catch (error) {
    if (existsSync(path)) return
    // A link to a file that is missing: without `x` the file is made where the link leads.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    closeSync(openSync(path, 'a', OWNER_ONLY))
  }
}

/** `recursive` of mkdirSync loops for ever where mkdir reports ENOENT although the parent exists, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: OWNER_ONLY_FOLDER })
  } catch (error) {
    // Another process may have created it at the same moment.
    if (!existsSync(path)) throw error
  }
}
