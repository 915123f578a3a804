/** A PostgreSQL server of one's own that can be killed and comes back on the same port. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '../../support/postgres.ts'

export type CrashablePostgres = {
  url: string
  /** kill -9 of the postmaster: no checkpoint, no farewell to its clients. */
  crash(): void
  /** Starts it again on what the crash left. */
  restart(): Promise<void>
  /** SIGSTOP and SIGCONT of the whole server: connections stay, nothing answers. */
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
      // The orphaned backends hold the shared memory until they notice.
      for (let tries = 1; ; tries++) {
        const failed = await postgres.start().then(
          () => false,
          () => true,
        )
        if (!failed) return
        if (tries === 100) throw new Error('PostgreSQL does not start again')
        await new Promise(resolve => setTimeout(resolve, 100))
      }
    },
    // While the postmaster stands still no process is added, and none that ended is gone.
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

/** Nothing where the process has ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
