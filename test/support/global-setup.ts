import { type RunningPostgres, startPostgres } from './postgres.ts'

let server: RunningPostgres | undefined

/**
 * One PostgreSQL server for the whole run; each test file makes its own databases in it. It does not wait
 * for the disk: the tests that crash PostgreSQL start their own servers.
 */
export async function globalSetup(): Promise<void> {
  try {
    server = await startPostgres({ settings: ['fsync=off'] })
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
  process.env.FARTHING_TEST_POSTGRES = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}
