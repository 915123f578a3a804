/** Reads the rows themselves and compares them with each other: nothing may be half there. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

export type Query = <Row>(sql: string, values?: string[]) => Promise<Row[]>

type Row = { payment_id: string; account: string; status: string; amount: number; body: string }
type Refunds = { payment_id: string; refunded_amount: number; sum: number }
type Message = { payment_id: string; webhook_id: string; event_type: string; status: string }
type Attempts = { attempts: string }
type Event = { status: string; at: number }

/** SPEC *States and transitions*: every history that a payment may have. */
const HISTORY =
  /^created( started)?( (failed|error|cancelled)| submitted (success|capturable( (success|cancelled))?))?$/

/**
 * Checks the payments created since one (by identifier): history, status, refunds, keys, and that
 * every webhook of the account was given one message for each change that it wants.
 */
export async function checkConsistency(query: Query, since = ''): Promise<void> {
  const payments = await query<Row>(
    'select payment_id, account, status, amount, body from payments where payment_id >= $1',
    [since],
  )
  for (const payment of payments) {
    const { events, given } = JSON.parse(payment.body)
    const history = events.map(({ status }: Event) => status).join(' ')
    assert.match(history, HISTORY, payment.payment_id)
    assert.equal(payment.status, events.at(-1).status)
    assert.equal(payment.amount, given.amount)
    const times = events.map(({ at }: Event) => at)
    assert.deepEqual(times, times.toSorted(), 'times never go back')
  }
  await checkRefunds(query, since)
  await checkKeys(query, since)
  await checkMessages(query, payments, since)
}

async function checkRefunds(query: Query, since: string): Promise<void> {
  const wrong = await query<Refunds>(
    `select p.payment_id, p.refunded_amount, cast(coalesce(sum(r.amount), 0) as integer) as sum
     from payments p left join refunds r on r.payment_id = p.payment_id
     where p.payment_id >= $1 group by p.payment_id, p.refunded_amount, p.amount, p.status
     having p.refunded_amount <> coalesce(sum(r.amount), 0) or p.refunded_amount > p.amount
       or (p.refunded_amount > 0 and p.status <> 'success')`,
    [since],
  )
  assert.deepEqual(wrong, [], 'a payment knows the sum of its refunds')
  const orphans = await query(
    `select refund_id from refunds where payment_id >= $1
     and payment_id not in (select payment_id from payments)`,
    [since],
  )
  assert.deepEqual(orphans, [], 'a refund has a payment')
}

async function checkKeys(query: Query, since: string): Promise<void> {
  const wrong = await query(
    `select k.idempotency_key from idempotency_keys k
     left join payments p on p.payment_id = k.payment_id and p.account = k.account
     where k.payment_id >= $1 and p.payment_id is null`,
    [since],
  )
  assert.deepEqual(wrong, [], 'an Idempotency-Key belongs to a payment')
}

/** What a payment's history must have told a webhook that wants everything. */
function told(payment: Row, refunds: number): string[] {
  const events = JSON.parse(payment.body).events.map(({ status }: Event) => status)
  const succeeded = events.includes('submitted') ? ['card_payment_succeeded'] : []
  const ending: Record<string, string[]> = {
    success: ['card_payment_captured'],
    failed: ['card_payment_failed'],
    error: ['card_payment_failed'],
    cancelled: ['card_payment_cancelled'],
  }
  const refunded = Array<string>(refunds).fill('card_payment_refunded')
  return [...succeeded, ...(ending[payment.status] ?? []), ...refunded].toSorted()
}

async function checkMessages(query: Query, payments: Row[], since: string): Promise<void> {
  const webhooks = await query<{ webhook_id: string; account: string }>(
    `select webhook_id, account from webhooks where status = 'ACTIVE'`,
  )
  const messages = await query<Message & Attempts>(
    `select payment_id, webhook_id, event_type, status, attempts from webhook_messages
     where payment_id >= $1`,
    [since],
  )
  const refunds = await query<{ payment_id: string }>(
    'select payment_id from refunds where payment_id >= $1',
    [since],
  )
  const messagesOf = Map.groupBy(messages, row => row.payment_id)
  const refundsOf = Map.groupBy(refunds, row => row.payment_id)
  for (const payment of payments)
    for (const { webhook_id, account } of webhooks) {
      if (account !== payment.account || webhook_id > payment.payment_id) continue
      const own = (messagesOf.get(payment.payment_id) ?? [])
        .filter(message => message.webhook_id === webhook_id)
        .map(message => message.event_type)
      const wanted = told(payment, refundsOf.get(payment.payment_id)?.length ?? 0)
      assert.deepEqual(own.toSorted(), wanted, `one message for each change: ${payment.body}`)
    }
  for (const { status, attempts } of messages) checkAttempts(status, attempts)
}

function checkAttempts(status: string, attempts: string): void {
  const outcomes: string[] = JSON.parse(attempts).map((attempt: Event) => attempt.status)
  const story = `${status} after ${attempts}`
  assert.ok(outcomes.length <= 2, story)
  assert.ok(!outcomes.slice(0, -1).includes('SUCCESSFUL'), `nothing is sent after a 2xx: ${story}`)
  assert.equal(status === 'SUCCESSFUL', outcomes.at(-1) === 'SUCCESSFUL', story)
  if (status === 'PENDING') assert.ok(outcomes.length < 2, story)
}

export type Reader = { query: Query; close(): Promise<void> }

/** Reads the file as another process does. */
export function readSqlite(path: string): Reader {
  const database = new DatabaseSync(path)
  return {
    async query(sql, values = []) {
      const rows = database.prepare(sql.replaceAll(/\$\d/g, '?')).all(...values)
      return rows as never // the caller names the columns
    },
    close: async () => database.close(),
  }
}

/** One connection to PostgreSQL. */
export async function readPostgres(url: string): Promise<Reader> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    query: async (sql, values = []) => (await client.query(sql, values)).rows as never, // as above
    close: () => client.end(),
  }
}

/** SQLite's own checks of its file. */
export async function checkIntegrity(query: Query): Promise<void> {
  assert.deepEqual((await query('pragma integrity_check')).map(Object.values as never), [['ok']])
  assert.deepEqual(await query('pragma foreign_key_check'), [])
}
