import { crashUnderInstances } from '../faults/process/crashes.ts'
import { startCrashablePostgres } from '../faults/process/postgres-server.ts'
import { poolerVersion, startPooler } from '../support/pgbouncer.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { everyFiftieth, sentence } from './kill-service.ts'
import type { Job } from './run.ts'

/** Connections of the pooler to the server, for the twenty of two instances. */
const CONNECTIONS = 4

export const job: Job = {
  title:
    'kill -9 of PgBouncer in transaction mode and of PostgreSQL behind it, in turn, under two instances and 16 clients',
  async run({ seed, scale }) {
    const version = poolerVersion()
    if (!version) return 'not run: PgBouncer is not installed (Debian: apt-get install pgbouncer)'
    const cycles = Math.ceil(20 * scale)
    const server = await startCrashablePostgres()
    const pooler = await startPooler(server.url, CONNECTIONS)
    const direct = await createPostgresDatabase(server.url)
    let crashes = 0
    try {
      const options = { cycles, seed, progress: everyFiftieth }
      const report = await crashUnderInstances(
        options,
        pooler.through(direct),
        direct,
        async () => {
          crashes += 1
          if (crashes % 2 === 1) return pooler.crash()
          server.crash()
          await server.restart()
        },
      )
      return `PgBouncer ${version} with ${CONNECTIONS} connections: ${sentence(report)}`
    } finally {
      await pooler.stop()
      await server.stop()
    }
  },
}
