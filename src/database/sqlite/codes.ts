/** SQLite's primary result codes, as far as something is done about them. */
export const SQLITE = {
  BUSY: 5,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  NOTADB: 26,
} as const

/** The extended code of a write that failed. */
export const SQLITE_IOERR_WRITE = 778

/** SQLite's extended result code; undefined for what is no error of SQLite's. */
export const extendedCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) : undefined

/** The lowest byte of the extended code; 0 for what is no error of SQLite's. */
export const primaryCode = (error: unknown): number => (extendedCode(error) ?? 0) & 0xff
