import { crashPostgres } from '../faults/process/crashes.ts'
import { everyFiftieth, sentence } from './kill-service.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title: 'kill -9 of PostgreSQL under two instances and 16 clients',
  async run({ seed, scale }) {
    const cycles = Math.ceil(50 * scale)
    return sentence(await crashPostgres({ cycles, seed, progress: everyFiftieth }))
  },
}
