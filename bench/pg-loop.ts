/**
 * The reference for PostgreSQL: a loop on `pg` with the two inserts of a payment in one transaction.
 * Arguments: DATABASE_URL, connections, seconds.
 */
import pg from 'pg'
import { newAccount } from '../src/core/account.ts'
import { createNewId, secrets } from '../src/core/ids.ts'
import { makePayment } from '../src/pay/payments/commands.ts'
import { readNewPayment } from '../src/pay/payments/request.ts'
import { insertPayment } from '../src/pay/payments/store.ts'
import { newPayment as body } from './requests.ts'

const [connectionString = '', connections = '10', seconds = '1'] = process.argv.slice(2)
const newId = createNewId()
const pool = new pg.Pool({ connectionString, max: Number(connections) })
const until = performance.now() + Number(seconds) * 1000

async function loop(): Promise<number> {
  const client = await pool.connect()
  let written = 0
  for (; performance.now() < until; written++) {
    const given = readNewPayment({ ...body() })
    const { after } = makePayment({ newId, secrets }, newAccount('bare'), Date.now(), { given })
    const { sql, values, also } = insertPayment(after)
    await client.query('begin')
    await client.query({ name: 'payment', text: sql, values })
    if (also) await client.query({ name: 'count', text: also.sql, values: also.values })
    await client.query('commit')
  }
  client.release()
  return written
}

const began = performance.now()
const written = await Promise.all(Array.from({ length: Number(connections) }, loop))
const rate = (written.reduce((a, b) => a + b, 0) / (performance.now() - began)) * 1000
await pool.end()
process.stdout.write(`${rate}\n`)
