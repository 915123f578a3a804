/** A PostgreSQL server that can be killed, and starts again on the same port. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type RunningPostgres, startPostgres } from '../../support/postgres.ts'
import { childrenOf, signal } from '../../support/process-tree.ts'

export type CrashablePostgres = Awaited<ReturnType<typeof startCrashablePostgres>>

export const postmasterOf = ({ data }: RunningPostgres): number =>
  Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n', 1)[0])

export async function startCrashablePostgres() {
  const postgres = await startPostgres()
  const pid = () => postmasterOf(postgres)
  const crash = () => process.kill(pid(), 'SIGKILL')
  async function restart(): Promise<void> {
    // Orphaned backends hold the shared memory until they exit.
    for (;;)
      try {
        return await postgres.start()
      } catch {
        await setTimeout(100)
      }
  }
  return {
    url: postgres.url,
    crash,
    restart,
    async crashAndRestart() {
      crash()
      await restart()
    },
    /**
     * Sends SIGSTOP to all its processes: connections stay open and nothing responds. The stopped postmaster starts no
     * process and reaps none, so the list of children stays complete. `thaw` sends SIGCONT.
     */
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
