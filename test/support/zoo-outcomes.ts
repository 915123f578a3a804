/** Integrations that learn the outcome of payments in wrong ways, and next to them some that do not. */

import { createNewId } from '../../src/core/ids.ts'
import { makeGapRow } from '../../src/tools/record/row.ts'
import { insertExchange } from '../../src/tools/record/store.ts'
import { type Client, sendUnchecked, webPayment } from './client.ts'
import { ask } from './control.ts'
import {
  hook,
  type Integration,
  integration,
  type Keeper,
  MINUTE,
  pay,
  payAndRead,
  SECOND,
  search,
  times,
} from './integration.ts'
import { choose, payOnPages, read } from './journeys.ts'

/** Exchanges that were only counted, as if they had come at this moment. */
export async function leaveGap({ service, room }: Keeper): Promise<void> {
  service.clock.advance(1)
  const now = service.clock.now()
  const gap = { count: 571, refused: 0, from: now, to: now, bounds: [] }
  await service.database.write([insertExchange(makeGapRow(room, gap))(createNewId()(now))])
}

const threeUnread = async ({ api }: Keeper, passed: number): Promise<void> => {
  await times(3, () => pay(api))
  await api.advance(passed)
}

/** The answer to the create is lost, and the user comes back to the page all the same. */
async function payUnanswered({ service, api }: Keeper): Promise<void> {
  await ask(service, api, 'plans', { on: 'createPayment', reset: true, when: 'after' })
  const url = `${service.baseUrl}/v1/payments`
  await sendUnchecked(url, { key: api.key, method: 'POST', json: webPayment }).catch(() => {})
  const { body } = await ask(service, api, 'payments')
  const [payment] = body.results
  await choose(api, payment, 'success')
  await api.postForm(`${payment._links.next_url.href}/confirm`, {})
}

type Refund = { payment_id: string; refund_id: string }

const refund = async (api: Client): Promise<Refund> => {
  const { payment_id, amount } = await payAndRead(api)
  await api.advance(5 * SECOND)
  const guarded = { amount: 100, refund_amount_available: amount }
  const { body } = await api.post(`/v1/payments/${payment_id}/refunds`, guarded)
  return { payment_id, refund_id: body.refund_id }
}

const readRefund = (api: Client, { payment_id, refund_id }: Refund) =>
  api.get(`/v1/payments/${payment_id}/refunds/${refund_id}`)

export const outcomes: Integration[] = [
  integration('three outcomes that are never read', ['C1 fail'], keeper =>
    threeUnread(keeper, 10 * MINUTE),
  ),
  integration('three outcomes just before ten minutes', [], keeper =>
    threeUnread(keeper, 10 * MINUTE - 10),
  ),
  integration('two outcomes that are never read', ['C1 note'], async ({ api }) => {
    await times(2, () => pay(api))
    await api.advance(10 * MINUTE)
  }),
  integration('three outcomes of four that are never read', ['C1 warn'], async keeper => {
    await payAndRead(keeper.api)
    await threeUnread(keeper, 10 * MINUTE)
  }),
  integration('outcomes of payments whose create got no answer', [], async keeper => {
    await times(3, async () => {
      await payUnanswered(keeper)
      await keeper.api.advance(MINUTE)
    })
    await read(keeper.api, await keeper.api.createPayment())
    await keeper.api.advance(180 * MINUTE)
  }),
  integration('unread outcomes with a gap in the record after them', [], async keeper => {
    await threeUnread(keeper, 10 * MINUTE)
    await leaveGap(keeper)
  }),
  integration('unread outcomes with a gap in the record before them', ['C1 fail'], async keeper => {
    await leaveGap(keeper)
    await threeUnread(keeper, 10 * MINUTE)
  }),
  integration('unread outcomes while the clock stands still', [], async keeper => {
    await ask(keeper.service, keeper.api, 'clock', { freeze: true })
    await threeUnread(keeper, 0)
    keeper.service.clock.advance(20 * MINUTE)
  }),
  integration('unread outcomes before a reset', [], async keeper => {
    await threeUnread(keeper, 10 * MINUTE)
    await ask(keeper.service, keeper.api, 'reset', {})
  }),
  integration('abandoned payments, and those that the API cancelled', [], async ({ api }) => {
    await times(3, async () => {
      await choose(api, await api.createPayment(), 'success')
      const { payment_id } = await api.createPayment()
      await api.post(`/v1/payments/${payment_id}/cancel`)
    })
    await api.advance(10 * MINUTE)
  }),
  integration(
    'outcomes that no webhook wants, where others arrive by webhook',
    ['P15 note'],
    async keeper => {
      await hook(keeper)
      await pay(keeper.api)
      await times(3, async () => choose(keeper.api, await keeper.api.createPayment(), 'declined'))
      await keeper.api.advance(10 * MINUTE)
    },
  ),
  integration('outcomes whose refunds are read, and nothing else', ['C1 fail'], async keeper => {
    await times(3, async () => {
      const { payment_id } = await pay(keeper.api)
      await keeper.api.get(`/v1/payments/${payment_id}/refunds`)
    })
    await keeper.api.advance(10 * MINUTE)
  }),
  integration('outcomes from a search within a minute', ['C2 warn'], ({ api }) =>
    times(3, async i => {
      await pay(api, { reference: `ORDER-${i}` })
      await api.advance(MINUTE - 10)
      await search(api, `order-${i}`)
    }),
  ),
  integration(
    'two outcomes from a search within a minute, one that is also read, and three after a minute',
    [],
    ({ api }) =>
      times(6, async i => {
        const payment = await pay(api, { reference: `ORDER-${i}` })
        await api.advance(i < 3 ? SECOND : MINUTE + 1)
        await search(api, `ORDER-${i}`)
        if (i === 2) await read(api, payment)
      }),
  ),
  integration('eleven reads of two payments', [], ({ api }) =>
    times(2, async () => {
      const payment = await api.createPayment()
      await times(11, () => read(api, payment))
    }),
  ),
  integration('eleven reads of three payments', ['C3 note'], ({ api }) =>
    times(3, async () => {
      const payment = await api.createPayment()
      await times(11, () => read(api, payment))
    }),
  ),
  integration('ten reads before and after a change, and eleven in eleven seconds', [], ({ api }) =>
    times(3, async () => {
      const payment = await api.createPayment()
      await times(10, () => read(api, payment))
      await choose(api, payment, 'success')
      await times(10, () => read(api, payment))
      const other = await api.createPayment()
      await times(11, async () => {
        await api.advance(SECOND)
        await read(api, other)
      })
    }),
  ),
  integration('pages that are opened twice after the payment', ['C10 note'], ({ api }) =>
    times(3, async () => {
      const payment = await pay(api)
      await read(api, payment)
      await times(2, () => api.get(payment._links.next_url.href))
    }),
  ),
  integration(
    'pages that are opened from the beginning three times while they are open',
    ['C10 note'],
    ({ api }) =>
      times(3, async () => {
        const payment = await api.createPayment()
        await times(3, () => api.get(payment._links.next_url.href))
      }),
  ),
  integration(
    'a payment that is open for three hours, where others are read',
    ['C12 note'],
    async ({ api }) => {
      await api.createPayment()
      await payAndRead(api)
      await api.advance(3 * 60 * MINUTE)
    },
  ),
  integration(
    'payments that are open for three hours and read, or nearly so long',
    [],
    async ({ api }) => {
      await read(api, await api.createPayment())
      await api.advance(MINUTE)
      await api.createPayment()
      await payAndRead(api)
      await api.advance(3 * 60 * MINUTE - 20)
    },
  ),
  integration(
    'a payment that is open for three hours, where nobody reads one',
    [],
    async ({ api }) => {
      await api.createPayment()
      await api.advance(3 * 60 * MINUTE)
    },
  ),
  integration('a refund that is read three times at once', ['C16 note'], async ({ api }) => {
    const made = await refund(api)
    await times(3, () => readRefund(api, made))
  }),
  integration(
    'a refund that is read twice at once and later, and one that has succeeded',
    [],
    async ({ api }) => {
      const made = await refund(api)
      await times(2, () => readRefund(api, made))
      await api.advance(5 * MINUTE)
      await times(5, () => readRefund(api, made))
    },
  ),
  integration('two payments for one reference that are paid', ['C19 note'], async ({ api }) => {
    const [first, second] = [await api.createPayment(), await api.createPayment()]
    for (const payment of [first, second]) await payOnPages(api, payment)
  }),
  integration(
    'a payment after one of its reference was paid, one beside it that is not paid, and three of a constant',
    [],
    async ({ api }) => {
      const pair = { reference: 'pair' }
      await payOnPages(api, await api.createPayment({ reference: 'after' }))
      await payOnPages(api, await api.createPayment({ reference: 'after' }))
      const [first] = [await api.createPayment(pair), await api.createPayment(pair)]
      await payOnPages(api, first)
      const constant = [0, 1, 2].map(() => api.createPayment({ reference: 'constant' }))
      for (const payment of await Promise.all(constant)) await payOnPages(api, payment)
    },
  ),
  integration('pages whose next_url is read each time, and opened', [], ({ api }) =>
    times(3, async () => {
      const payment = await api.createPayment()
      await times(3, async () => {
        const { _links } = await read(api, payment)
        await api.get(_links.next_url.href)
      })
    }),
  ),
  integration(
    'pages that are opened twice while they are open, of which two are opened twice after the payment',
    [],
    ({ api }) =>
      times(4, async i => {
        const payment = await api.createPayment()
        const open = () => api.get(payment._links.next_url.href)
        await times(2, open)
        await choose(api, payment, 'success')
        await api.postForm(`${payment._links.next_url.href}/confirm`, {})
        await read(api, payment)
        await times(i < 2 ? 2 : 1, open)
      }),
  ),
]
