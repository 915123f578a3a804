import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Database, Statement } from '../../src/core/ports.ts'
import { tempDatabase } from '../support/folders.ts'
import { openAt } from '../support/open-database.ts'
import { createPostgresDatabase } from '../support/postgres.ts'

type Row = { key_id: string; account: string; created: number; revoked: number | null }

const insert = (key_id: string, account = 'a', created = 0): Statement => ({
  sql: 'insert into api_keys (key_id, account, hash, created) values ($1, $2, $3, $4)',
  values: [key_id, account, `hash of ${key_id}`, created],
})
/** A compare-and-swap. `created` serves as the version. */
const swap = (key_id: string, from: number, account: string): Statement => ({
  sql: 'update api_keys set created = $2 + 1, account = $3 where key_id = $1 and created = $2',
  values: [key_id, from, account],
  expect: 1,
})
const missing = swap('nobody', 0, 'x')

const kinds: Record<string, () => Promise<string>> = {
  sqlite: async () => tempDatabase(),
  'sqlite in memory': async () => 'sqlite::memory:',
  postgres: () => createPostgresDatabase(),
}

for (const [kind, newUrl] of Object.entries(kinds))
  describe(`A database (${kind})`, () => {
    let database: Database
    let url = ''
    before(async () => {
      url = await newUrl()
      database = await openAt(url)
    })
    after(() => database.close())

    const rows = (account: string) =>
      database.query<Row>('select * from api_keys where account = $1 order by key_id', [account])
    const stored = async (key_id: string) =>
      (await database.query<Row>('select * from api_keys where key_id = $1', [key_id]))[0]
    const ids = async (account: string) => (await rows(account)).map(row => row.key_id)

    test('writes all statements in order, and each sees the changes of the ones before it', async () => {
      const written = await database.write([
        insert('a1', 'all'),
        swap('a1', 0, 'all'),
        swap('a1', 1, 'all'),
      ])
      assert.equal(written, true)
      assert.equal((await rows('all'))[0]?.created, 2)
    })

    test('writes nothing and rejects when a statement fails', async () => {
      const twice = [insert('b1', 'none'), insert('b2', 'none'), insert('b1', 'none')]
      await assert.rejects(database.write(twice))
      await assert.rejects(database.write([insert('b3', 'none'), { sql: 'nonsense', values: [] }]))
      assert.deepEqual(await rows('none'), [])
      await assert.rejects(database.write([insert('a1')]))
    })

    test('writes nothing when a statement misses its row, at any place in the write', async () => {
      const good = [insert('c1', 'miss'), insert('c2', 'miss')]
      for (let place = 0; place <= good.length; place++)
        assert.equal(await database.write(good.toSpliced(place, 0, missing)), false)
      assert.equal(await database.write([missing]), false)
      assert.deepEqual(await rows('miss'), [])
    })

    test('counts an insert that does nothing on a conflict as a miss', async () => {
      const again: Statement = {
        ...insert('d1', 'there'),
        sql: `${insert('d1').sql} on conflict do nothing`,
        expect: 1,
      }
      assert.equal(await database.write([again]), true)
      assert.equal(await database.write([again]), false)
      assert.equal(await database.write([insert('d2', 'there'), again]), false)
      assert.deepEqual(await ids('there'), ['d1'])
    })

    test('rejects only the read that fails, not the reads of the same turn', async () => {
      await database.write([insert('r1', 'reads')])
      const [one, wrong, two] = await Promise.allSettled([
        ids('reads'),
        database.query('select nonsense'),
        ids('reads'),
      ])
      assert.deepEqual(
        [one, two].map(read => read?.status === 'fulfilled' && read.value),
        [['r1'], ['r1']],
      )
      assert.equal(wrong?.status, 'rejected')
      await database.write([insert('r2', 'reads')])
      assert.deepEqual(await Promise.all([ids('reads'), ids('reads')]), Array(2).fill(['r1', 'r2']))
    })

    test('resolves reads that were asked for before it is closed, and rejects later ones', async () => {
      const closing = await openAt(url)
      const count = () => closing.query<{ total: number }>('select cast(1 as integer) as total')
      const before = [count(), count()]
      const closed = closing.close()
      for (const read of before) assert.deepEqual(await read, [{ total: 1 }])
      await closed
      const after = await Promise.allSettled([count(), count()])
      const endings = after.map(({ status }) => status)
      assert.deepEqual(endings, ['rejected', 'rejected'])
    })

    test('undoes only the write that fails, not the writes of the same batch', async () => {
      const writes = Array.from({ length: 60 }, (_, i) => {
        const good = [insert(`f${i}`, 'group'), insert(`f${i} too`, 'group')]
        if (i % 3 === 0) return database.write([...good, missing])
        if (i % 3 === 1) return database.write([...good, insert(`f${i}`, 'group')])
        return database.write(i % 2 ? good : [insert(`f${i}`, 'group')])
      })
      const results = await Promise.allSettled(writes)
      for (const [i, result] of results.entries()) {
        const expected = i % 3 === 0 ? false : i % 3 === 1 ? 'rejected' : true
        assert.equal(result.status === 'fulfilled' ? result.value : 'rejected', expected, `${i}`)
      }
      const written = await ids('group')
      assert.deepEqual([...new Set(written.map(id => Number.parseInt(id.slice(1), 10) % 3))], [2])
      assert.equal(written.length, 30)
    })

    test('shows no reader a part of a write', async () => {
      const write = database.write(Array.from({ length: 40 }, (_, i) => insert(`h${i}`, 'half')))
      const reads = await Promise.all(Array.from({ length: 30 }, () => rows('half')))
      await write
      for (const read of reads) assert.ok(read.length === 0 || read.length === 40, `${read.length}`)
      assert.equal((await rows('half')).length, 40)
    })

    test('returns texts and numbers exactly as they were stored', async () => {
      const texts = [
        '',
        ' ',
        "it's",
        '"',
        '\\',
        '%_',
        '$1',
        'é',
        '😀',
        '\u0001\n\r\t',
        'x'.repeat(70_000),
      ]
      for (const [i, text] of texts.entries()) {
        await database.write([insert(`i${i}`, text, i)])
        assert.equal((await stored(`i${i}`))?.account, text)
        const found = await database.query('select 1 from api_keys where account = $1', [text])
        assert.ok(found.length > 0)
      }
      const numbers = [0, -1, 1_789_374_031_407, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
      for (const [i, number] of numbers.entries()) {
        await database.write([insert(`j${i}`, 'numbers', number)])
        const row = await stored(`j${i}`)
        assert.strictEqual(row?.created, number)
        assert.strictEqual(row?.revoked, null)
      }
    })

    test('binds each value by its number, in any order and more than once', async () => {
      const [row] = await database.query<{ text: string }>(
        'select cast($2 as text) || cast($1 as text) || cast($2 as text) as text',
        ['a', 'b'],
      )
      assert.equal(row?.text, 'bab')
    })

    test('sorts identifiers by code point, not by the rules of a language', async () => {
      const names = ['k-Z', 'k-a', 'k-b', 'k-ab', 'k-0', 'k-_', 'k-é']
      await database.write(names.map(name => insert(name, 'sorted')))
      assert.deepEqual(await ids('sorted'), [...names].sort())
    })

    test('passes its own check while it works', () => database.check())
  })
