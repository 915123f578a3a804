/** A PostgreSQL primary with a synchronous standby, behind an address that stays the same. */
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { type RunningPostgres, startPostgres, withClient } from '../../support/postgres.ts'
import { startRelay } from '../../support/relay.ts'
import { postmasterOf } from './postgres-server.ts'

export async function startReplicatedPostgres() {
  let primary = await startPostgres({ settings: SETTINGS })
  let standby = await startStandby(primary)
  const relay = await startRelay(portOf(primary))
  const url = Object.assign(new URL(primary.url), { port: String(relay.port) }).href
  return {
    /** The address of the current primary. */
    url,
    /**
     * Kills the primary with kill -9, promotes the standby, and gives it a standby of its own. Resolves to the
     * milliseconds in which there was no primary.
     */
    async failOver() {
      const lost = primary
      const begun = performance.now()
      process.kill(postmasterOf(lost), 'SIGKILL')
      primary = standby
      await withClient(primary.url, async admin => {
        await admin.query('select pg_promote()')
        // Stops waiting for a standby: nothing would be acknowledged until the next one is there.
        await waitForStandby(admin, false)
      })
      relay.leadTo(portOf(primary))
      const length = performance.now() - begun
      standby = await startStandby(primary)
      await lost.stop()
      return length
    },
    async stop() {
      await relay.close()
      await standby.stop()
      await primary.stop()
    },
  }
}

const SETTINGS = ['wal_keep_size=256MB', 'hot_standby=on']

const portOf = ({ url }: RunningPostgres): number => Number(new URL(url).port)

/** Copies the primary while it works, and makes it wait for the copy from then on. */
async function startStandby(primary: RunningPostgres): Promise<RunningPostgres> {
  const { hostname, port, username, password } = new URL(primary.url)
  const source = `host=${hostname} port=${port} user=${username} password=${password}`
  const fill = (data: string) =>
    withClient(primary.url, async admin => {
      await admin.query(`select pg_backup_start('standby', true)`)
      // Files that the server deletes meanwhile are not needed.
      spawnSync('cp', ['-a', primary.data, data])
      const { rows } = await admin.query('select labelfile from pg_backup_stop(false)')
      for (const left of ['postmaster.pid', 'postmaster.opts'])
        rmSync(join(data, left), { force: true })
      writeFileSync(join(data, 'backup_label'), rows[0].labelfile)
      writeFileSync(join(data, 'standby.signal'), '')
    })
  const settings = [...SETTINGS, `primary_conninfo=${source}`]
  const standby = await startPostgres({ settings, fill })
  await withClient(primary.url, admin => waitForStandby(admin, true))
  return standby
}

/** Sets whether a commit is acknowledged only when the standby has it too. Resolves when that is so. */
async function waitForStandby(admin: pg.Client, wait: boolean): Promise<void> {
  await admin.query(`alter system set synchronous_standby_names = '${wait ? '*' : ''}'`)
  await admin.query('select pg_reload_conf()')
  const sql = `select count(*) filter (where sync_state = 'sync')::int as standbys,
    current_setting('synchronous_standby_names') as names from pg_stat_replication`
  for (;;) {
    const [row] = (await admin.query(sql)).rows
    if (wait ? row.standbys > 0 && row.names === '*' : row.names === '') return
    await setTimeout(20)
  }
}
