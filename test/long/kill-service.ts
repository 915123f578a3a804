import { crashSqlite } from '../faults/process/crashes.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title: 'kill -9 of the service under 16 clients (SQLite)',
  async run({ seed, scale }) {
    const cycles = Math.ceil(1_000 * scale)
    return sentence(await crashSqlite({ cycles, seed, progress: everyFiftieth }))
  },
}

type Report = Awaited<ReturnType<typeof crashSqlite>>

export const sentence = ({ cycles, answered, unanswered, payments, messages }: Report): string =>
  `${cycles} crashes, ${answered} requests answered and ${unanswered} cut off, ${payments} payments and ${messages} webhook messages acknowledged`

export const everyFiftieth = (cycle: number, report: Report): void => {
  if (cycle % 50 === 0) console.log(sentence(report))
}
