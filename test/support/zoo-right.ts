import type { Body } from './client.ts'
import {
  DAY,
  hook,
  type Integration,
  integration,
  MINUTE,
  pay,
  payAndRead,
  SECOND,
  times,
} from './integration.ts'
import { choose, read } from './journeys.ts'

/** Integrations as the documentation of GOV.UK Pay recommends them. */
export const right: Integration[] = [
  integration('a redirect and a read', [], async ({ api }) => {
    await times(4, () => payAndRead(api))
    await api.advance(DAY)
  }),
  integration('webhooks only', ['P15 note'], async keeper => {
    await hook(keeper)
    await times(4, () => pay(keeper.api))
    await keeper.api.advance(DAY)
  }),
  integration('a job that reads open payments an hour later', [], async ({ api }) => {
    const payments: Body[] = []
    await times(4, async () => payments.push(await pay(api)))
    await api.advance(60 * MINUTE)
    for (const payment of payments) await read(api, payment)
  }),
  integration('polling once a second', [], ({ api }) =>
    times(3, async () => {
      const payment = await api.createPayment()
      await times(11, async () => {
        await api.advance(SECOND)
        await read(api, payment)
      })
      await choose(api, payment, 'declined')
      await read(api, payment)
    }),
  ),
]
