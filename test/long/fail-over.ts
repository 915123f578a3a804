import { crashUnderInstances } from '../faults/process/crashes.ts'
import { startReplicatedPostgres } from '../faults/process/replicated-postgres.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { everyFiftieth, sentence } from './kill-service.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title:
    'kill -9 of a PostgreSQL primary and promotion of its synchronous standby, under two instances and 16 clients',
  async run({ seed, scale }) {
    const server = await startReplicatedPostgres()
    const url = await createPostgresDatabase(server.url)
    const lengths: number[] = []
    try {
      const options = { cycles: Math.ceil(10 * scale), seed, progress: everyFiftieth }
      const report = await crashUnderInstances(options, url, url, async () => {
        lengths.push(await server.failOver())
      })
      const longest = Math.round(Math.max(...lengths) / 100) / 10
      return `${sentence(report)}; without a primary for ${longest} s at most`
    } finally {
      await server.stop()
    }
  },
}
