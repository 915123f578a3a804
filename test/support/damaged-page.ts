import { closeSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Overwrites the last page of a table or an index of a closed SQLite file. The next row goes to that page. */
export function damageLastPage(path: string, name: string): void {
  const database = new DatabaseSync(path)
  database.exec('pragma wal_checkpoint(truncate)')
  const pages = database
    .prepare(`select pageno, pgsize from dbstat where name = ? and pagetype = 'leaf' order by path`)
    .all(name)
  database.close()
  const { pageno, pgsize } = pages.at(-1) ?? {}
  if (pageno === undefined) throw new Error(`${name} has no page`)
  const size = Number(pgsize)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(size, 0xab), 0, size, (Number(pageno) - 1) * size)
  closeSync(file)
}
