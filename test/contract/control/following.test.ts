import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MESSAGES_AT_ONCE } from '../../../src/core/budgets.ts'
import { inSizes } from '../../../src/core/gather.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { HOUR } from '../../../src/core/time.ts'
import { insertMessages } from '../../../src/pay/webhooks/message-store.ts'
import type { Paging } from '../../../src/platform/database/follow.ts'
import { followMessages } from '../../../src/tools/control/messages-store.ts'
import { briefOf } from '../../support/assertions.ts'
import { type Body, type Client, webPayment } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { insertKept } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'
import { watched } from '../../support/watched.ts'

const named = ({ path, query }: Body): string => path + (query && `?${query}`)

onEveryDatabase('A list of control with a cursor', receiving, service => {
  const list = async (api: Client, query: string): Promise<Body> =>
    (await ask(service(), api, query)).body

  async function follow(api: Client, after: string, limit = 500) {
    const seen: string[] = []
    for (let next = after; ; ) {
      const page = await list(api, `requests?after=${next}&limit=${limit}`)
      if (page.results.length === 0) return { seen, next }
      seen.push(...page.results.map(named))
      next = page.next
    }
  }

  test('a follower sees a request that began before its cursor and was answered behind it', async t => {
    const api = await service().newAccount()
    const { next } = await list(api, 'requests')
    let cursor = ''
    await subscribe(t, api, {
      behaviour: {
        // As every application does, the receiver reads the payment before it answers.
        async onRequest({ request, response }) {
          service().clock.advance(1)
          await api.get(`/v1/payments/${JSON.parse(request.body).resource.payment_id}`)
          const followed = await follow(api, next)
          assert.equal(followed.seen.at(-1), path)
          cursor = followed.next
          response.end()
        },
      },
    })
    const { payment_id } = await api.createPayment()
    const path = `/v1/payments/${payment_id}`
    await api.post(`${path}/cancel`)
    // With two instances the list may have some requests of the same time again.
    assert.ok((await follow(api, cursor)).seen.includes(`${path}/cancel`))
  })

  test('the filter by reference finds the payment’s requests and a refused creation with it, in any case', async () => {
    const api = await service().newAccount()
    const { payment_id } = await api.createPayment({ reference: 'Straße 1' })
    service().clock.advance(1)
    await api.get(`/v1/payments/${payment_id}`)
    for (const reference of ['straße 1', 'Straße 2']) {
      service().clock.advance(1)
      const refused = { ...webPayment, reference, amount: -1 }
      assert.equal((await api.post('/v1/payments', refused)).status, 422)
      // The reference of an agreement is not that of a payment.
      await api.post('/v1/agreements', { reference, description: '' })
    }
    const { results } = await list(api, 'requests?reference=STRASSE%201')
    const found = results.map(({ status, reference }: Body) => `${status} ${reference}`)
    assert.deepEqual(found, ['201 Straße 1', '200 Straße 1', '422 straße 1'])
  })

  test('a follower sees a request that another instance committed late, and a wait is not answered without a new one', async () => {
    const { api, name } = await service().namedAccount()
    const newId = createNewId()
    const write = (at: number, path: string) =>
      service().database.write([insertKept(name, at, { path })(newId(at))])
    const now = service().clock.now()
    for (let i = 1; i < 40; i++) await write(now + i * 300, `/${i}`)
    const { next } = await follow(api, (await list(api, 'requests?limit=1')).next)
    for (const limit of [1, 3, 500]) {
      await write(now + 10_000, `/late-${limit}`)
      const { seen, next: after } = await follow(api, next, limit)
      assert.ok(seen.includes(`/late-${limit}`))
      assert.ok(seen.length < 15, `it repeats only what came at that time: ${seen.length}`)
      const waited = await list(api, `requests?after=${after}&wait=150`)
      assert.deepEqual([waited.results, waited.next], [[], after])
    }
  })

  test('both lists have the newest entries, oldest first, and are paged in both directions', async t => {
    const api = await service().newAccount()
    const { webhook } = await subscribe(t, api)
    for (let i = 0; i < 5; i++) {
      service().clock.advance(300)
      await cancelledPayment(api, { reference: `R-${i}` })
    }
    const messages = await list(api, 'messages')
    const ids = messages.results.map(({ message_id }: Body) => message_id)
    assert.equal(ids.length, 5)
    const requests = await list(api, 'requests?operation=cancelPayment')
    const request_ids = requests.results.map(({ request_id }: Body) => request_id)
    for (const [path, id, all] of [
      ['messages?limit=2', 'message_id', ids],
      ['requests?limit=2&operation=cancelPayment', 'request_id', request_ids],
    ] as const) {
      const walk = async (query: string, lead: (page: Body) => string): Promise<Body[]> => {
        const page = await list(api, path + query)
        return page.results.length === 0 ? [] : [page, ...(await walk(lead(page), lead))]
      }
      const idsOf = (pages: Body[]) =>
        pages.map(({ results }) => results.map((each: Body) => each[id]))
      const back = await walk('', ({ previous }) => `&before=${previous}`)
      assert.deepEqual(idsOf(back), [all.slice(3), all.slice(1, 3), all.slice(0, 1)])
      const forward = await walk(`&after=${back.at(-1).next}`, ({ next }) => `&after=${next}`)
      assert.deepEqual(idsOf(forward), [all.slice(1, 3), all.slice(3)])
      assert.deepEqual(idsOf([await list(api, `${path}&after=${all[0]}`)]), [all.slice(1, 3)])
      assert.equal((await list(api, `${path}&after=${all[4]}`)).previous, null)
    }
    assert.equal(messages.results[0].webhook_id, webhook.external_id)
  })

  test('messages are read in steps, whichever webhook has them, and a filter finds the only one among thousands', async () => {
    const { api, name } = await service().namedAccount()
    const { database } = service()
    const hooks: string[] = []
    for (const hook of ['busy', 'other', 'idle']) {
      const callback_url = `http://localhost:1/${hook}`
      hooks.push((await api.post('/v1/webhooks', { callback_url })).body.external_id)
    }
    const newId = createNewId()
    const now = service().clock.now()
    const made = Array.from({ length: 2 * MESSAGES_AT_ONCE + 200 }, (_, i) => ({
      message_id: newId(now + i),
      webhook_id: hooks[i % 2] ?? '',
      payment_id: newId(now),
      event_type: i === 7 ? ('card_payment_failed' as const) : ('card_payment_succeeded' as const),
      created: now,
      body: '{}',
      sent_as: 'specification' as const,
    }))
    const ids = made.map(({ message_id }) => message_id)
    await database.write(inSizes(made).map(part => insertMessages(part, () => now + HOUR)))
    const limit = 300
    // Each step asks for the sizes of as many rows as are missing. In the end one query reads as many rows.
    let steps = 0
    const noting = watched(database, ([{ values = [] } = {}]) => {
      if ([limit, limit - 1].includes(Number(values.at(-1)))) steps += 1
    })
    const follow = async (paging: Paging, filter = {}) => {
      steps = 0
      const { rows, ...page } = await followMessages(noting, name, filter, paging)
      return { ...page, found: rows.map(({ message_id }) => message_id) }
    }
    const rare = { event_type: 'card_payment_failed' }
    for (const paging of [{ limit }, { limit, after: ids[0] }, { limit, before: ids.at(-1) }]) {
      assert.deepEqual((await follow(paging, rare)).found, [ids[7]])
      // A step looks at no more than 500 messages of each of the two webhooks. The third webhook has none.
      assert.ok(steps >= 4, `${steps} steps`)
    }
    const newest = await follow({ limit })
    assert.deepEqual(newest.found, ids.slice(-limit))
    assert.equal(steps, 2)
    const older = await follow({ limit: 500, before: newest.previous ?? '' })
    assert.deepEqual(older.found, ids.slice(-limit - 500, -limit))
    const seen: string[] = []
    for (let after = ids[0] ?? ''; ; ) {
      const { found, next } = await follow({ limit: 500, after })
      if (found.length === 0) break
      seen.push(...found)
      after = next
    }
    // The cursor did not count the first message of its time, so the message came again.
    assert.deepEqual([...new Set(seen)].sort(), ids)
  })

  test('a list does not begin at a text that is no cursor', async () => {
    const api = await service().newAccount()
    const { next } = await list(api, 'requests')
    for (const path of ['requests', 'messages'])
      for (const [name, value] of [
        ['after', 'nonsense'],
        ['after', ''],
        ['after', `${next}x`],
        ['before', 'nonsense'],
        ['before', next],
      ] as const) {
        const refused = await ask(service(), api, `${path}?${name}=${value}`)
        assert.equal(briefOf(refused), `422 C0102 ${name}`, value)
      }
  })
})
