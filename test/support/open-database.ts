/** Opens the database of a DATABASE_URL as the service does. */
import assert from 'node:assert/strict'
import { readConfig } from '../../src/app/config.ts'
import type { Database } from '../../src/core/ports.ts'
import { openDatabase } from '../../src/platform/database/open.ts'

/** An error that no caller would see fails the test. */
export const openAt = (DATABASE_URL: string): Promise<Database> =>
  openDatabase(readConfig({ DATABASE_URL }).database, {
    onUnknownOutcome: assert.ifError,
    onConnectionError: assert.ifError,
  })
