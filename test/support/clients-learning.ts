/** Clients that learn outcomes or take recurring payments in wrong ways, and some that do both rightly. */
import assert from 'node:assert/strict'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { activeAgreement, setUpPayment } from './agreements.ts'
import type { Body, Fields } from './client.ts'
import { attemptsAt, client, type Keeper, times } from './integration.ts'
import { payOnPages } from './journeys.ts'

const payUnread = async ({ pay, wait }: Keeper, count = 3, passed = 10 * MINUTE): Promise<void> => {
  await times(count, () => pay())
  await wait(passed)
}

/** `count` outcomes that nobody has read after `passed` milliseconds. */
const unread = (what: string, expected: string, count: number, passed = 10 * MINUTE) =>
  client(what, expected, keeper => payUnread(keeper, count, passed))

/** The response to the create is lost, and the user still pays on the page. */
async function payUnanswered({ plan, tryToCreate, control, end }: Keeper): Promise<void> {
  await plan({ on: 'createPayment', reset: true, when: 'after' })
  await tryToCreate()
  await end((await control('payments')).body.results[0])
}

/** Refunds a captured payment. Returns a function that reads the refund. */
async function refund({ api, captured }: Keeper): Promise<() => Promise<unknown>> {
  const { payment_id, amount } = await captured()
  const guarded = { amount: 100, refund_amount_available: amount }
  const { body } = await api.post(`/v1/payments/${payment_id}/refunds`, guarded)
  return () => api.get(`/v1/payments/${payment_id}/refunds/${body.refund_id}`)
}

const FINAL = { scenario: 'declined', can_retry: false }
const AGAIN = { scenario: 'declined', can_retry: true }

/** Takes a payment with the agreement, which ends as the plan `as` says, and reads it. */
async function chargeAndRead({ charge, plan, read, wait }: Keeper, agreement: Fields, as?: Fields) {
  if (as) await plan(as)
  await wait(MINUTE)
  await read(await charge(agreement))
}

export const learning = [
  unread('three outcomes that are never read', 'C1 fail x3', 3),
  unread('three outcomes just before ten minutes', '', 3, 10 * MINUTE - 10),
  unread('two outcomes that are never read', 'C1 note x2', 2),
  client('three outcomes of four that are never read', 'C1 warn x3', async keeper => {
    await keeper.payAndRead()
    await payUnread(keeper)
  }),
  client('outcomes that farthing listen prints and nobody reads', 'C1 fail x3', async keeper => {
    await times(3, async () => {
      const { payment_id } = await keeper.pay()
      await keeper.record(SECOND, attemptsAt({ external_id: null }, ['printed'], payment_id))
    })
    await keeper.wait(10 * MINUTE)
  }),
  client('outcomes of payments whose create got no answer', '', async keeper => {
    await times(3, async () => {
      await payUnanswered(keeper)
      await keeper.wait(MINUTE)
    })
    await keeper.read(await keeper.create())
    await keeper.wait(3 * HOUR)
  }),
  client('unread outcomes with a gap in the record after them', '', async keeper => {
    await payUnread(keeper)
    await keeper.leaveGap()
  }),
  client('unread outcomes with a gap in the record before them', 'C1 fail x3', async keeper => {
    await keeper.leaveGap()
    await payUnread(keeper)
  }),
  client('unread outcomes while the clock stands still', '', async keeper => {
    await keeper.control('clock', { freeze: true })
    await payUnread(keeper, 3, 0)
    keeper.service.clock.advance(20 * MINUTE)
  }),
  client('unread outcomes before a reset', '', async keeper => {
    await payUnread(keeper)
    await keeper.control('reset', {})
  }),
  client('abandoned payments, and those that the API cancelled', '', async keeper => {
    const { api, choose, create, wait } = keeper
    await times(3, async () => {
      await choose(await create(), 'success')
      const { payment_id } = await create()
      await api.post(`/v1/payments/${payment_id}/cancel`)
    })
    await wait(10 * MINUTE)
  }),
  client('outcomes that no webhook wants, where others arrive by one', 'P15 note', async keeper => {
    const { choose, create, hook, pay, wait } = keeper
    await hook()
    await pay()
    await times(3, async () => choose(await create(), 'declined'))
    await wait(10 * MINUTE)
  }),
  client('outcomes whose refunds are read, and nothing else', 'C1 fail x3', async keeper => {
    await times(3, async () => {
      const { payment_id } = await keeper.pay()
      await keeper.api.get(`/v1/payments/${payment_id}/refunds`)
    })
    await keeper.wait(10 * MINUTE)
  }),
  client('outcomes from a search within a minute', 'C2 warn x3', ({ pay, search, wait }) =>
    times(3, async i => {
      await pay({ reference: `ORDER-${i}` })
      await wait(MINUTE - 10)
      await search(`order-${i}`)
    }),
  ),
  client('searches after a minute, for two, and for one that is read', '', keeper =>
    times(6, async i => {
      const payment = await keeper.pay({ reference: `ORDER-${i}` })
      await keeper.wait(i < 3 ? SECOND : MINUTE + 1)
      await keeper.search(`ORDER-${i}`)
      if (i === 2) await keeper.read(payment)
    }),
  ),
  client('eleven reads of three payments', 'C3 note x3', ({ create, read }) =>
    times(3, async () => {
      const payment = await create()
      await times(11, () => read(payment))
    }),
  ),
  client('ten reads before and after a change, eleven in eleven seconds, and of two', '', keeper =>
    times(3, async i => {
      const { choose, create, read, wait } = keeper
      const payment = await create()
      await times(10, () => read(payment))
      await choose(payment, 'success')
      await times(i < 2 ? 11 : 10, () => read(payment))
      const other = await create()
      await times(11, async () => {
        await wait(SECOND)
        await read(other)
      })
    }),
  ),
  client('pages that are opened twice after the payment', 'C10 note x3', ({ api, pay, read }) =>
    times(3, async () => {
      const payment = await pay()
      await read(payment)
      await times(2, () => api.get(payment._links.next_url.href))
    }),
  ),
  client('pages that are opened three times while they are open', 'C10 note x3', keeper =>
    times(3, async () => {
      const { _links } = await keeper.create()
      await times(3, () => keeper.api.get(_links.next_url.href))
    }),
  ),
  client('pages whose next_url is read each time, and opened', '', ({ api, create, read }) =>
    times(3, async () => {
      const payment = await create()
      await times(3, async () => api.get((await read(payment))._links.next_url.href))
    }),
  ),
  client('pages that are opened twice before the end, and two of four twice after it', '', keeper =>
    times(4, async i => {
      const payment = await keeper.create()
      const open = () => keeper.api.get(payment._links.next_url.href)
      await times(2, open)
      await keeper.end(payment)
      await keeper.read(payment)
      await times(i < 2 ? 2 : 1, open)
    }),
  ),
  client('a payment open for three hours, and others are read', 'C12 note', async keeper => {
    await keeper.create()
    await keeper.payAndRead()
    await keeper.wait(3 * HOUR)
  }),
  client('payments that are open for three hours and read, or nearly so long', '', async keeper => {
    await keeper.read(await keeper.create())
    await keeper.wait(MINUTE)
    await keeper.create()
    await keeper.payAndRead()
    await keeper.wait(3 * HOUR - 20)
  }),
  client('a payment that is open for three hours, and nobody reads one', '', async keeper => {
    await keeper.create()
    await keeper.wait(3 * HOUR)
  }),
  client('a refund that is read three times at once', 'C16 note', async keeper => {
    const read = await refund(keeper)
    await times(3, read)
  }),
  client('a refund that is read twice, and later when it has succeeded', '', async keeper => {
    const read = await refund(keeper)
    await times(2, read)
    await keeper.wait(5 * MINUTE)
    await times(5, read)
  }),
  client('two payments for one reference that are paid', 'C19 note', async ({ api, create }) => {
    for (const payment of [await create(), await create()]) await payOnPages(api, payment)
  }),
  client('one after the first was paid, one that is not paid, and three', '', async keeper => {
    const { api, create } = keeper
    await payOnPages(api, await create({ reference: 'after' }))
    await payOnPages(api, await create({ reference: 'after' }))
    const [first] = [await create({ reference: 'pair' }), await create({ reference: 'pair' })]
    await payOnPages(api, first)
    const constant = [0, 1, 2].map(() => create({ reference: 'constant' }))
    for (const payment of await Promise.all(constant)) await payOnPages(api, payment)
  }),

  client('an agreement payment without a key', 'C4 warn, P14 note x3', ({ charge }) =>
    charge(undefined, 201, {}),
  ),
  client('three recurring payments, never read', 'C9 fail x3, P14 note x9', async keeper => {
    await times(3, () => keeper.charge())
    await keeper.wait(10 * MINUTE)
  }),
  client('two recurring payments, never read', 'C9 note x2, P14 note x6', async keeper => {
    await times(2, () => keeper.charge())
    await keeper.wait(10 * MINUTE)
  }),
  client('three of four charges, never read', 'C9 warn x3, P14 note x12', async keeper => {
    await keeper.read(await keeper.charge())
    await times(3, () => keeper.charge())
    await keeper.wait(10 * MINUTE)
  }),
  client('one with an agreement declined for good', 'C14 warn, P14 note x3', async keeper => {
    const agreement = await activeAgreement(keeper.api)
    await chargeAndRead(keeper, agreement, FINAL)
    await keeper.charge(agreement, 400)
  }),
  client('one after that, where the answer was lost', 'C4 warn, P14 note x3', async keeper => {
    const agreement = await activeAgreement(keeper.api)
    await keeper.plan(FINAL)
    await keeper.plan({ on: 'createPayment', reset: true, when: 'after' })
    await keeper.tryToCharge(agreement)
    await keeper.charge(agreement, 400)
  }),
  client('one that is repeated with its key after a lost answer', 'P14 note x3', async keeper => {
    const agreement = await activeAgreement(keeper.api)
    await keeper.plan({ on: 'createPayment', reset: true, when: 'after' })
    const key = { 'Idempotency-Key': 'order-1' }
    await keeper.tryToCharge(agreement, key)
    assert.equal((await keeper.tryToCharge(agreement, key))?.status, 409)
    await keeper.wait(DAY)
  }),
  client('one with an agreement that was set up again after that', 'P14 note x5', async keeper => {
    const agreement = await activeAgreement(keeper.api)
    await chargeAndRead(keeper, agreement, FINAL)
    await payOnPages(keeper.api, await setUpPayment(keeper.api, agreement))
    await chargeAndRead(keeper, agreement)
  }),
  client('one less than 48 hours after a declined one', 'C15 note, P14 note x4', async keeper => {
    const agreement = await activeAgreement(keeper.api)
    await chargeAndRead(keeper, agreement, AGAIN)
    await keeper.wait(2 * DAY - 2 * MINUTE)
    await chargeAndRead(keeper, agreement)
  }),
  client('sixteen tries in 30 days, one declined', 'C15 note, P14 note x18', async keeper => {
    const agreement = await activeAgreement(keeper.api)
    await chargeAndRead(keeper, agreement, AGAIN)
    await keeper.wait(2 * DAY)
    await times(15, () => chargeAndRead(keeper, agreement))
  }),
  client('sixteen tries, and one 48 hours after a declined one', 'P14 note x22', async keeper => {
    const [many, few] = [await activeAgreement(keeper.api), await activeAgreement(keeper.api)]
    await times(16, () => chargeAndRead(keeper, many))
    await chargeAndRead(keeper, few, AGAIN)
    await keeper.wait(2 * DAY)
    await chargeAndRead(keeper, few)
  }),

  // The way that the documentation of GOV.UK Pay recommends.
  client('a redirect and a read', '', async ({ payAndRead, wait }) => {
    await times(4, () => payAndRead())
    await wait(DAY)
  }),
  client('webhooks only', 'P15 note', async ({ hook, pay, wait }) => {
    await hook()
    await times(4, () => pay())
    await wait(DAY)
  }),
  client('a job that reads open payments an hour later', '', async ({ pay, read, wait }) => {
    const payments: Body[] = []
    await times(4, async () => payments.push(await pay()))
    await wait(HOUR)
    for (const payment of payments) await read(payment)
  }),
]
