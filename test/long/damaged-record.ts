import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { crashSqlite } from '../faults/process/crashes.ts'
import { damageLastPage } from '../support/damaged-page.ts'
import { sentence } from './kill-service.ts'
import type { Job } from './run.ts'

/** What is done to the record of requests, and undone before the next. */
const DAMAGE: { damage: string; undo?: string }[] = [
  { damage: 'update exchanges set body = substr(body, 1, length(body) / 2)' },
  { damage: 'update exchanges set body = randomblob(500)' },
  { damage: 'delete from exchanges' },
  {
    damage: 'alter table exchanges rename to exchanges_away',
    undo: 'alter table exchanges_away rename to exchanges',
  },
  {
    damage: `create trigger full before insert on exchanges
      begin select raise(abort, 'the disk is full'); end`,
    undo: 'drop trigger full',
  },
]

const PARTS = ['exchanges', 'exchanges_by_account', 'exchanges_by_payment']

const FAILED = /requests could not be recorded/g

export const job: Job = {
  title: 'A damaged record of requests, and kill -9 (SQLite)',
  async run({ seed, scale }) {
    let lines = 0
    const damaging = (damage: (path: string, crash: number) => void) => {
      let crash = 0
      return crashSqlite({
        cycles: Math.ceil(15 * scale),
        seed,
        damageRecord({ path, output }) {
          const failed = output.match(FAILED)?.length ?? 0
          assert.ok(failed <= 1, `${failed} lines say that requests could not be recorded`)
          lines += failed
          damage(path, crash++)
        },
      })
    }
    const rows = await damaging((path, crash) => {
      const database = new DatabaseSync(path)
      const undo = DAMAGE[(crash - 1) % DAMAGE.length]?.undo
      if (undo) database.exec(undo)
      database.exec(DAMAGE[crash % DAMAGE.length]?.damage ?? '')
      database.close()
    })
    const before = lines
    const pages = await damaging((path, crash) => {
      const part = PARTS[crash]
      if (part) damageLastPage(path, part)
    })
    assert.ok(lines > before, 'the damage of the pages had an effect')
    return `rows: ${sentence(rows)}; pages: ${sentence(pages)}; ${lines} lines of the log`
  },
}
