/** A real database whose calls begin late and end late, so that requests overtake each other everywhere. */
import type { Database } from '../../src/ports.ts'

const MOST_TURNS = 4

/** Each call waits for some turns of the event loop, as `random` says, before and after. */
export function shuffled(database: Database, random: () => number): Database {
  async function pause(): Promise<void> {
    for (let turns = Math.floor(random() * MOST_TURNS); turns > 0; turns--)
      await new Promise(resolve => setImmediate(resolve))
  }
  async function late<Result>(call: () => Promise<Result>): Promise<Result> {
    await pause()
    const result = await call()
    await pause()
    return result
  }
  return {
    ...database,
    query: (sql, values) => late(() => database.query(sql, values)),
    write: statements => late(() => database.write(statements)),
  }
}
