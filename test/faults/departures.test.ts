/** Clients that go away: what they asked for goes on or never began, and no place is lost to them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { MOST_AT_WORK } from '../../src/http/limits.ts'
import type { Send } from '../../src/ports.ts'
import { type Client, createClient, webPayment } from '../support/client.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { closed, open } from '../support/raw-http.ts'
import { type Service, startService } from '../support/service.ts'

/** More than the service has places. */
const DEPARTURES = MOST_AT_WORK + 100

describe('A client that goes away', () => {
  let service: Service
  let api: Client
  /** Deliveries that are being made; each ends when it is called. */
  const underWay: (() => void)[] = []
  const send: Send = () =>
    new Promise(resolve => {
      underWay.push(() =>
        resolve({ status: 'SUCCESSFUL', status_code: 200, response_time: 1, result: '200 OK' }),
      )
    })

  before(async () => {
    service = await startService('sqlite', { send })
    api = await service.newAccount()
  })
  after(() => service.stop())

  const isServed = async () =>
    assert.equal((await api.post('/v1/payments', webPayment)).status, 201, 'others are served')

  test('in the middle of its request does not keep its place', async () => {
    const head = `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\n`
    for (let nth = 0; nth < DEPARTURES; nth++) {
      const socket = await open(service.baseUrl)
      socket.write(`${head}Content-Length: 100\r\n\r\n{"amount":`)
      socket.end()
      socket.resume()
      await closed(socket)
    }
    await isServed()
  })

  test('while webhooks are told does not keep its place, and the delivery is made', async () => {
    const payments = await inTens(DEPARTURES, () =>
      api.createPayment({ authorisation_mode: 'moto_api' }),
    )
    await api.post('/v1/webhooks', {
      callback_url: 'https://hooks.example.org/x',
      subscriptions: ['card_payment_captured'],
    })
    const sockets = await inTens(DEPARTURES, async nth => {
      const { one_time_token } = payments[nth]._links.auth_url_post.params
      const card = { card_number: '4444333322221111', cvc: '123', expiry_date: '09/39' }
      const body = JSON.stringify({ one_time_token, cardholder_name: 'A Payer', ...card })
      const socket = await open(service.baseUrl)
      const length = `Content-Length: ${body.length}`
      socket.write(`POST /v1/auth HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n${body}`)
      while (underWay.length <= nth) await new Promise(resolve => setImmediate(resolve))
      return socket
    })
    for (const socket of sockets) socket.destroy()
    await Promise.all(sockets.map(socket => closed(socket)))
    await isServed()
    for (const end of underWay) end()
    for (const { deliveries } of service.apps) await deliveries.settled()
    await isServed()
    const rows = await service.database.query(
      `select status, count(*) as total from webhook_messages group by status`,
    )
    assert.deepEqual(
      rows.map(row => ({ ...(row as object) })),
      [{ status: 'SUCCESSFUL', total: DEPARTURES }],
    )
  })
})

test('A client that goes away while its key is looked up does not keep its place', async t => {
  const url = await createPostgresDatabase()
  const service = await startService('postgres', { env: { DATABASE_URL: url } })
  t.after(() => service.stop())
  const { key } = await service.newAccount()
  const api = createClient([service.baseUrl], key) // of the one instance that they leave
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.after(() => other.end())

  await other.query('begin; lock table api_keys in access exclusive mode')
  const head = `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.key}\r\n`
  // Some are reset before they are heard of.
  await inTens(2 * DEPARTURES, async () => {
    const socket = await open(service.baseUrl)
    socket.write(`${head}Content-Length: 100\r\n\r\n{"amount":`)
    for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
    socket.resetAndDestroy()
    await closed(socket)
  })
  await other.query('rollback')
  await service.database.query('select 1') // in its turn, after the keys that are still looked up
  assert.equal((await api.post('/v1/payments', webPayment)).status, 201, 'others are served')
})

/** Ten at a time, in their order. */
async function inTens<Result>(count: number, each: (nth: number) => Promise<Result>) {
  const results: Result[] = []
  for (let nth = 0; nth < count; nth += 10) {
    const some = Array.from({ length: Math.min(10, count - nth) }, (_, i) => nth + i)
    results.push(...(await Promise.all(some.map(each))))
  }
  return results
}
