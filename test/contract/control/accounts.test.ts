import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import {
  deleteEndedRooms,
  endExpiredAccounts,
  ROOM_TABLES,
} from '../../../src/app/ended-rooms-store.ts'
import { testAccountName } from '../../../src/core/account.ts'
import type { Database } from '../../../src/core/ports.ts'
import { DAY, MINUTE } from '../../../src/core/time.ts'
import { listKeys } from '../../../src/platform/accounts/store.ts'
import { assertError, briefOf } from '../../support/assertions.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { signIn } from '../../support/console.ts'
import { ask, asking, assertRefused, testAccount } from '../../support/control.ts'
import { authorise, paidPayment, read } from '../../support/journeys.ts'
import type { Answer } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'
import { watchedService } from '../../support/watched.ts'

const fail = (response: ServerResponse) => response.writeHead(500).end()

async function sweepAccounts(database: Database, now: number): Promise<void> {
  await endExpiredAccounts(database, now)
  await deleteEndedRooms(database, now)
}

onEveryDatabase('Test accounts and resets', { ...receiving, control: true }, service => {
  const control = asking(service)
  const makeAccount = (parent: Client, fields?: object) => testAccount(service(), parent, fields)
  const end = (parent: Client, { account }: Body) =>
    control(parent, `accounts/${encodeURIComponent(account)}`, undefined, 'DELETE')
  const rowsOf = async (room: string, { payment_id }: Body) => {
    const counts = Object.keys(ROOM_TABLES)
      .filter(table => table !== 'webhook_messages')
      .map(table => `(select count(*) from ${table} where account = $1)`)
    const messages = 'select count(*) from webhook_messages where payment_id = $2'
    const sql = `select ${counts.join(' + ')} + (${messages}) as rows`
    const [row] = await service().database.query<{ rows: number | string }>(sql, [room, payment_id])
    return Number(row?.rows)
  }

  test('the list of test accounts has the clock and the end of each, newest first', async () => {
    const parent = await service().newAccount()
    const first = await makeAccount(parent, { at: '2001-01-01T00:00:00Z' })
    service().clock.advance(1)
    const second = await makeAccount(parent, { at: '2099-12-31T23:59:59Z' })
    for (const { account } of [first, second]) assert.match(account, /^account-\d+\.[0-9a-v]{8}$/)
    assert.equal(Date.parse(second.expires), service().clock.now() + 7 * DAY)
    const results = [second, first].map(({ api, key, ...listed }) => listed)
    assert.deepEqual((await control(parent, 'accounts')).body, { results })
  })

  test('an account begins at the time of its request, frozen unless the request says otherwise', async () => {
    const parent = await service().newAccount()
    const at = '2026-03-29T00:59:58.000Z'
    const frozen = await makeAccount(parent, { at })
    assert.deepEqual(frozen.clock, { now: at, frozen: true })
    service().clock.advance(5_000)
    assert.equal((await frozen.api.createPayment()).created_date, at)
    const running = await makeAccount(parent, { at, frozen: false })
    service().clock.advance(2_000)
    assert.equal((await running.api.createPayment()).created_date, '2026-03-29T01:00:00.000Z')
    const { clock } = await makeAccount(parent, { frozen: true })
    const now = new Date(service().clock.now()).toISOString()
    assert.deepEqual(clock, { now, frozen: true })
  })

  test('only the parent creates, lists and ends accounts: key and links of one stop at once, at every instance', async () => {
    const parent = await service().newAccount()
    const ended = await makeAccount(parent)
    const sibling = await makeAccount(parent)
    const payment = await ended.api.createPayment()
    assert.equal((await end(await service().newAccount(), ended)).status, 404)
    for (const answer of [
      await end(sibling.api, ended),
      await control(sibling.api, 'accounts', {}),
      await control(sibling.api, 'accounts'),
    ])
      assert.equal(briefOf(answer), '403 C0403')
    assert.equal((await end(parent, ended)).status, 204)
    const keys = await listKeys(service().database)
    assert.ok(!keys.some(({ account }) => account.endsWith(ended.account)))
    for (const url of service().baseUrls) {
      const { status } = await createClient([url], ended.key).get('/v1/payments')
      assert.equal(status, 401)
      const page = new URL(payment._links.next_url.href)
      assert.equal((await fetch(url + page.pathname)).status, 404)
    }
    assert.equal((await end(parent, ended)).status, 204)
    assert.equal(briefOf(await control(parent, 'accounts', { name: ended.account })), '409 C0409')
    const { results } = (await control(parent, 'accounts')).body
    const names = results.map(({ account }: Body) => account)
    assert.deepEqual(names, [sibling.account])
  })

  test('the name of a test account belongs to its parent: two have one of the same name, and neither learns of the other', async () => {
    const parents = [await service().newAccount(), await service().newAccount()] as const
    const [one, other] = [
      await makeAccount(parents[0], { name: 'Check out' }),
      await makeAccount(parents[1], { name: 'Check out' }),
    ]
    for (const [i, parent] of parents.entries()) {
      assert.equal((await control(parent, 'accounts', { name: 'Check out' })).status, 409)
      const { results } = (await control(parent, 'accounts')).body
      assert.deepEqual([results.length, results[0].account], [1, 'Check out'])
      const { body } = await control(i === 0 ? one.api : other.api, '')
      const { account } = (await control(parent, '')).body
      assert.deepEqual([body.account, body.parent], ['Check out', account])
    }
    assert.equal((await end(parents[0], one)).status, 204)
    assert.equal((await one.api.get('/v1/payments')).status, 401)
    assert.equal((await other.api.get('/v1/payments')).status, 200)
  })

  test('unusable names, times and behaviours are refused, and a refused reset changes nothing', async () => {
    const parent = await service().newAccount()
    const refuse = (path: string, bodies: Parameters<typeof assertRefused>[3]) =>
      assertRefused(service(), parent, path, bodies)
    for (const behaviour of ['govuk', '', null, true])
      for (const path of ['accounts', 'reset']) await refuse(path, [[{ behaviour }, 'behaviour']])
    assert.equal((await control(parent, '', undefined, 'GET')).body.epoch, 0)
    await refuse('accounts', [
      [{ name: 'a#1' }, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 7 }, 'name'],
      [{ at: '2000-12-31T23:59:59Z' }, 'at'],
      [{ at: '2100-01-01T00:00:00Z' }, 'at'],
      [{ at: 'soon' }, 'at'],
      [{ at: ['2026-03-29T00:59:58Z'] }, 'at'],
      [{ at: '2026-02-30T00:00:00Z' }, 'at'],
      [{ frozen: 'yes' }, 'frozen'],
    ])
  })

  test('after 7 days the keys, pages, one-time tokens and webhooks stop; a day later the rows go, and the name is free again', async t => {
    const { clock, database } = service()
    const parent = await service().newAccount()
    // The clock of the account stands still, so its payments do not age.
    const { account, api } = await makeAccount(parent, { frozen: true })
    const room = testAccountName((await control(parent, '')).body.account, account)
    const { requests } = await subscribe(t, api)
    const paid = await paidPayment(api)
    const sent = requests.length
    const web = await api.createPayment()
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    await control(api, 'plans', { scenario: 'declined' })
    clock.advance(7 * DAY)
    assert.equal((await api.get('/v1/payments')).status, 401)
    const page = web._links.next_url.href
    assert.equal((await api.get(page)).status, 404)
    assert.equal((await api.postForm(page, { scenario: 'declined' })).status, 404)
    assertError(await authorise(api, moto), 400, 'P1211')
    assert.equal(requests.length, sent)
    clock.advance(DAY - 1)
    await sweepAccounts(database, clock.now())
    clock.advance(-DAY)
    assert.equal((await api.get('/v1/payments')).status, 200, 'the clock was wrong')
    clock.advance(DAY + 1)
    await sweepAccounts(database, clock.now())
    assert.equal((await control(parent, 'accounts', { name: account })).status, 409)
    assert.notEqual(await rowsOf(room, paid), 0)
    clock.advance(5 * MINUTE + 1)
    await sweepAccounts(database, clock.now())
    assert.equal(await rowsOf(room, paid), 0)
    const again = await makeAccount(parent, { name: account })
    assert.equal((await again.api.get('/v1/payments')).body.total, 0)
    await sweepAccounts(database, clock.now())
    await read(again.api, await again.api.createPayment())
  })

  test('a message that is unsent when its test account expires gets no further attempt', async t => {
    const held: ServerResponse[] = []
    const onRequest = ({ response, nth }: Answer) =>
      nth === 1 ? held.push(response) : fail(response)
    const { api } = await makeAccount(await service().newAccount(), { frozen: true })
    const failing = await subscribe(t, api, { behaviour: { onRequest } })
    const payment = await api.createPayment()
    const cancelled = api.post(`/v1/payments/${payment.payment_id}/cancel`)
    await failing.next()
    service().clock.advance(7 * DAY)
    held.forEach(fail)
    assert.equal((await cancelled).status, 204)
    assert.equal(failing.requests.length, 1)
  })
})

/** Steps of a plan that read the accounts which they look for, and no others. */
const BY_INDEX = /\(name=\?|accounts_(living|ended) \(parent=\?|accounts_by_expiry \(expires/

test('creating, listing, ending and sweeping test accounts does not read all ended ones', async t => {
  const { service, api, database, assertPlans } = await watchedService(t)
  const { body } = await ask(service, api, 'accounts', {})
  await ask(service, api, 'accounts')
  await ask(service, api, `accounts/${body.account}`, undefined, 'DELETE')
  await (await signIn(service, api)).get('accounts')
  await sweepAccounts(database, Date.now() + 8 * DAY)
  await assertPlans(/ accounts\b/, BY_INDEX, 10)
})
