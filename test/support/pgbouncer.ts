/** Debian's PgBouncer in front of a PostgreSQL server, in transaction mode. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { tempFolder } from './folders.ts'
import { freePort, isListening } from './ports.ts'
import { idsOf, OTHER_USER } from './postgres.ts'

const PROGRAM = 'pgbouncer'

/** The version, such as `1.18.0`. undefined where it is not installed. */
export function poolerVersion(): string | undefined {
  const { stdout } = spawnSync(PROGRAM, ['--version'], { encoding: 'utf8', env: ENV })
  return stdout?.match(/PgBouncer (\S+)/)?.[1]
}

const ENV = { PATH: `${process.env.PATH}:/usr/sbin` }

/** Starts PgBouncer with `connections` connections to each database, so that many clients share few of them. */
export async function startPooler(server: string, connections: number) {
  const folder = tempFolder()
  const port = await freePort()
  const user = process.getuid?.() === 0 ? idsOf(OTHER_USER) : undefined
  const config = join(folder, 'pgbouncer.ini')
  writeFileSync(join(folder, 'users'), '"postgres" "postgres"\n')
  writeFileSync(
    config,
    `[databases]
* = host=127.0.0.1 port=${new URL(server).port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = ${connections}
server_login_retry = 1
`,
  )
  chmodSync(folder, 0o755)
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder])

  let child: ChildProcess | undefined
  async function start(): Promise<void> {
    child = spawn(PROGRAM, ['-q', config], { ...user, cwd: folder, env: ENV, stdio: 'ignore' })
    while (!(await isListening(port))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer ended with code ${child.exitCode}`)
      await setTimeout(20)
    }
  }
  async function kill(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  await start()
  return {
    through: (url: string) => Object.assign(new URL(url), { port: String(port) }).href,
    /** Kills it with kill -9 and starts it again on the same port. */
    async crash() {
      await kill()
      await start()
    },
    stop: kill,
  }
}
