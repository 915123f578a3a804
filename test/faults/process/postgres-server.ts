/** A PostgreSQL server that can be killed, and starts again on the same port. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startPostgres } from '../../support/postgres.ts'
import { childrenOf, signal } from '../../support/process-tree.ts'

export type CrashablePostgres = {
  url: string
  /** Kills the postmaster with kill -9. */
  crash(): void
  /** Starts it again on the same data. */
  restart(): Promise<void>
  /** SIGSTOP for all its processes: connections stay open and nothing responds. `thaw` sends SIGCONT. */
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

export async function startCrashablePostgres(): Promise<CrashablePostgres> {
  const postgres = await startPostgres()
  const pidFile = join(postgres.data, 'postmaster.pid')
  const pid = () => Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0])
  return {
    url: postgres.url,
    crash: () => process.kill(pid(), 'SIGKILL'),
    async restart() {
      // Orphaned backends hold the shared memory until they exit.
      for (let tries = 1; ; tries++) {
        const failed = await postgres.start().then(
          () => false,
          () => true,
        )
        if (!failed) return
        if (tries === 100) throw new Error('PostgreSQL does not start again')
        await setTimeout(100)
      }
    },
    // The stopped postmaster starts no process and reaps none, so the list of children stays complete.
    freeze() {
      process.kill(pid(), 'SIGSTOP')
      for (const child of childrenOf(pid())) signal(child, 'SIGSTOP')
    },
    thaw() {
      for (const child of childrenOf(pid())) signal(child, 'SIGCONT')
      process.kill(pid(), 'SIGCONT')
    },
    stop: postgres.stop,
  }
}
