import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Account } from '../../../src/core/account.ts'
import type { Send, Value } from '../../../src/core/ports.ts'
import { accountOfName, leaveRoom } from '../../../src/platform/accounts/store.ts'
import { createFollow } from '../../../src/platform/outbound/follow.ts'
import type { Body } from '../../support/client.ts'
import { holdSends, instanceOn, resultOf } from '../../support/held-send.ts'
import { onEveryDatabase } from '../../support/service.ts'

const MINUTE = 60_000

onEveryDatabase(
  'A message that is sent again in the time of its account',
  { control: true },
  service => {
    type Owner = Awaited<ReturnType<ReturnType<typeof service>['namedAccount']>>
    type Cancelled = {
      owner: Owner
      payment_id: string
      account: () => Promise<Account>
      message: () => Promise<Body>
    }

    /** Another instance on the database, to which the receiver answers with `status`. `sent` has its payments. */
    function instance(status: number) {
      const sent: string[] = []
      const send: Send = async ({ body }) => {
        sent.push(JSON.parse(body).resource_id)
        return resultOf(status)
      }
      return { ...instanceOn(service(), send), sent }
    }

    /** An account with a webhook. The message of its cancelled payment stands in the database, unsent. */
    async function cancelled(made?: Owner): Promise<Cancelled> {
      const owner = made ?? (await service().namedAccount('govuk-pay'))
      const { api, name } = owner
      if (!made) await api.post('/control/webhooks', { callback_url: 'https://hooks.example.org/' })
      const { payment_id } = await api.createPayment()
      await api.post(`/v1/payments/${payment_id}/cancel`)
      const change = (sql: string, ...values: Value[]) =>
        service().database.write([{ sql: `update webhook_messages set ${sql}`, values, expect: 1 }])
      // Takes the message from the instance that wrote it. If that instance was faster, ends it, and takes another one.
      const unsent = `claimed_until = 0 where payment_id = $1 and attempts = '[]' and claimed_until <= $2`
      if (!(await change(unsent, payment_id, service().clock.now() + 500))) {
        await change(`status = 'FAILED', due_at = null where payment_id = $1`, payment_id)
        return cancelled(owner)
      }
      const account = async () =>
        (await accountOfName(service().database, name)) ?? assert.fail('no account')
      const message = async (): Promise<Body> =>
        (await api.get(`/control/messages?payment_id=${payment_id}`)).body.results[0]
      return { owner, payment_id, account, message }
    }

    for (const [isReset, hops] of [
      [false, ['/', '/1', '/2', '/3', '/4', '/5']],
      [true, ['/']],
    ] as const)
      test(`An attempt follows redirects to ${hops.at(-1)} ${isReset ? 'once its account is reset' : 'while its account has its room'}`, async () => {
        const { account } = await cancelled()
        const { database, time } = service()
        const asked: string[] = []
        const send: Send = createFollow(async ({ url }) => {
          asked.push(new URL(url).pathname)
          if (isReset && asked.length === 1) {
            const before = await account()
            await leaveRoom(database, before, before, time.wall())
          }
          return { ...resultOf(302), next: { location: `/${asked.length}` } }
        })
        await instanceOn(service(), send).recover()
        assert.deepEqual(asked, hops)
      })

    test('The first attempt at what a stopped instance has left is made at the next start, and no claim holds it up', async () => {
      const { message, payment_id } = await cancelled()
      const next = instance(200)
      await next.recover()
      const { delivery, attempts } = await message()
      assert.deepEqual([next.sent, delivery, attempts.length], [[payment_id], 'SUCCESSFUL', 1])
      // The timer of the instance that wrote the message finds it sent.
      for (const { deliveries } of service().apps) await deliveries.settled()
      assert.equal((await message()).attempts.length, 1)
    })

    test('An instance that looks again for unsent messages sends those of a webhook one after the other', async () => {
      await cancelled((await cancelled()).owner)
      const held = holdSends()
      const next = instanceOn(service(), held.send)
      const all = next.recover().then(() => true)
      await held.next()
      await Promise.race([next.recover(), held.next()])
      assert.equal(held.calls.length, 1)
      while (!(await Promise.race([all, setImmediate()]))) held.endAll(200)
    })

    test('A message that failed is sent again by one of two instances, at its time and not before', async () => {
      const { account, message } = await cancelled()
      const [one, other] = [instance(500), instance(200)]
      await one.recover()
      await Promise.all([one, other].map(each => each.doAllDue()))
      const seen = [(await message()).delivery, one.sent.length, other.sent.length]
      assert.deepEqual(seen, ['PENDING', 1, 0])
      service().clock.advance(MINUTE)
      const owner = await account()
      await Promise.all([one, other, other, one].map(each => each.doDue(owner)))
      assert.equal(one.sent.length + other.sent.length, 2)
      const { attempts } = await message()
      const [second, first] = attempts.map(({ created_date }: Body) => Date.parse(created_date))
      assert.equal(second - first, MINUTE)
    })

    test('Attempts that fell due while the clock moved are made in order of time, and neither a stop nor a fault leaves one under way', async () => {
      const first = await cancelled()
      const second = await cancelled(first.owner)
      const next = instance(500)
      await next.recover()
      service().clock.advance(MINUTE)
      const [held, stop] = [holdSends(), new AbortController()]
      const ofBoth = () =>
        held.calls.filter(({ body }) =>
          [first, second].some(({ payment_id }) => body.includes(payment_id)),
        )
      const stopping = instanceOn(service(), held.send)
      await stopping.doAllDue(stop.signal)
      while (ofBoth().length === 0) await held.next()
      stop.abort()
      const settled = stopping.settled().then(() => true)
      // An attempt of another account may have begun a moment before.
      while (!(await Promise.race([settled, setImmediate()]))) held.endAll(500)
      assert.equal(ofBoth().length, 1)
      const faults: unknown[] = []
      const write = () => Promise.reject(new Error('connection lost'))
      const broken = { database: { ...service().database, write }, time: service().time }
      const failing = instanceOn(broken, held.send, { onFault: error => faults.push(error) })
      await failing.doAllDue()
      await failing.settled()
      assert.match(String(faults), /connection lost/)
      service().clock.advance(4.5 * MINUTE)
      const third = await cancelled(first.owner)
      await next.recover()
      service().clock.advance(3 * MINUTE)
      next.sent.length = 0
      await next.doDue(await first.account())
      // The first and the second are due again after six minutes, the third after six and a half.
      const inOrder = [second, first, second, third].map(({ payment_id }) => payment_id)
      assert.deepEqual(next.sent, inOrder)
    })

    test('An attempt that a stopped instance had begun again is made by another, once the claim has ended', async () => {
      const { account, message } = await cancelled()
      await instance(500).recover()
      service().clock.advance(MINUTE)
      const hanging = holdSends()
      void instanceOn(service(), hanging.send).doDue(await account())
      await hanging.next()
      const next = instance(200)
      await next.doDue(await account())
      await next.recover()
      assert.deepEqual(next.sent, [], 'it may still be under way')
      service().clock.advance(MINUTE)
      await next.recover()
      const { delivery, attempts } = await message()
      assert.deepEqual([next.sent.length, delivery, attempts.length], [1, 'SUCCESSFUL', 2])
    })
  },
)
