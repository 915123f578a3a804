import { ConfigError } from '../app/config.ts'
import { NewerDatabaseError } from '../platform/database/migrate.ts'
import { extendedCode, primaryCode, SQLITE } from '../platform/database/sqlite/connection.ts'
import { note } from './output.ts'

const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'])
const NO_FOLDER = new Set(['EACCES', 'EROFS', 'ENOENT', 'EPERM', 'ENOTDIR', 'EEXIST'])

/** Writes a line to standard error for each problem. */
export function writeProblems(error: unknown): void {
  const problems = error instanceof ConfigError ? error.problems : [explainError(error)]
  for (const problem of problems) note(`farthing: ${problem}`)
}

/** Returns one line for the user, with the problem and the remedy. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, address, port, path, syscall } = error as Error & Record<string, unknown> // each may be missing
  if (syscall === 'connect') return unreachable(error.message || String(code))
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is in use: set PORT to another port`
  if (code === 'EACCES' && port)
    return `port ${port} needs more rights: set PORT to a port above 1023`
  if (code === 'EADDRNOTAVAIL')
    return `HOST ${address} is not an address of this machine: set it to 127.0.0.1 or 0.0.0.0`
  if (NO_FOLDER.has(String(code)))
    return `the folder of the database cannot be written: ${error.message} (see who owns it, or set DATABASE_URL)`
  if (error instanceof NewerDatabaseError)
    return `${error.message}: start that version, or set DATABASE_URL to another database`
  if (code === 'ERR_SQLITE_ERROR')
    return `the SQLite database ${path ?? 'that DATABASE_URL names'} cannot be used: ${error.message} (${sqliteAdvice(error)})`
  if (/\bSSL\b|certificate/.test(error.message))
    return `PostgreSQL cannot be reached over TLS: ${error.message} (see the TLS parameters in DATABASE_URL)`
  if (
    UNREACHABLE.has(String(code)) ||
    /connection timeout|Connection terminated/.test(error.message)
  )
    return unreachable(error.message || String(code))
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code))
    return `PostgreSQL refuses: ${error.message} (DATABASE_URL names it)`
  if (/password must be a/.test(error.message))
    return 'PostgreSQL asks for a password: give one in DATABASE_URL, as in postgres://USER:PASSWORD@HOST/DATABASE'
  return error.message
}

const unreachable = (reason: string): string =>
  `PostgreSQL cannot be reached: ${reason} (is it running? DATABASE_URL names it)`

function sqliteAdvice(error: unknown): string {
  const code = primaryCode(error)
  if (code === SQLITE.BUSY)
    return 'another process has locked it, or it is on a network share: stop that process, or set DATABASE_URL'
  if (code === SQLITE.READONLY || code === SQLITE.CANTOPEN)
    return 'this user must be able to write the file and its folder: see who owns them, or set DATABASE_URL'
  if (code === SQLITE.CORRUPT)
    return 'it is damaged: restore a backup, or move it away, -wal and -shm included'
  if (code === SQLITE.NOTADB) return 'move it away, or set DATABASE_URL to another file'
  return `error ${extendedCode(error)}; DATABASE_URL names the file`
}
