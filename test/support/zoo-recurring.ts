/** Integrations that take recurring payments in wrong ways, and next to them some that do not. */
import assert from 'node:assert/strict'
import { activeAgreement, payByAgreement, setUpPayment } from './agreements.ts'
import type { Body, Client } from './client.ts'
import { ask } from './control.ts'
import {
  agreementPayment,
  DAY,
  type Integration,
  integration,
  KEY,
  type Keeper,
  MINUTE,
  times,
} from './integration.ts'
import { payOnPages, read } from './journeys.ts'
import { leaveGap } from './zoo-outcomes.ts'

const chargesOf = async (api: Client, count: number): Promise<void> => {
  await times(count, i => agreementPayment(api, { 'Idempotency-Key': `order-${i}` }))
  await api.advance(10 * MINUTE)
}

/** A payment with the agreement that is read, and ends as a plan says. Returns the status of its create. */
async function charge({ service, api }: Keeper, agreement: Body, plan?: object): Promise<number> {
  if (plan) assert.equal((await ask(service, api, 'plans', plan)).status, 201)
  await api.advance(MINUTE)
  const key = { 'Idempotency-Key': `order-${service.clock.now()}` }
  const { status, body } = await payByAgreement(api, agreement, {}, key)
  if (status === 201) await read(api, body)
  return status
}

const FINAL = { scenario: 'declined', can_retry: false }
const AGAIN = { scenario: 'declined', can_retry: true }

export const recurring: Integration[] = [
  integration('an agreement payment without a key', ['C4 warn', 'P14 note'], ({ api }) =>
    agreementPayment(api, {}),
  ),
  integration('three agreement payments that are never read', ['C9 fail', 'P14 note'], ({ api }) =>
    chargesOf(api, 3),
  ),
  integration(
    'three agreement payments of four that are never read',
    ['C9 warn', 'P14 note'],
    async ({ api }) => {
      await read(api, await agreementPayment(api, KEY))
      await chargesOf(api, 3)
    },
  ),
  integration('two agreement payments that are never read', ['C9 note', 'P14 note'], ({ api }) =>
    chargesOf(api, 2),
  ),
  integration(
    'an agreement payment that is not read just before ten minutes',
    ['P14 note'],
    async ({ api }) => {
      await agreementPayment(api, KEY)
      await api.advance(10 * MINUTE - 10)
    },
  ),
  integration(
    'an agreement payment that is not read, with a gap in the record after it',
    ['P14 note'],
    async keeper => {
      await agreementPayment(keeper.api, KEY)
      await keeper.api.advance(10 * MINUTE)
      await leaveGap(keeper)
    },
  ),
  integration('an agreement payment that is read', ['P14 note'], async ({ api }) => {
    await read(api, await agreementPayment(api, KEY))
    await api.advance(10 * MINUTE)
  }),
  integration(
    'a payment with an agreement that was declined for good',
    ['C14 warn', 'P14 note'],
    async keeper => {
      const agreement = await activeAgreement(keeper.api)
      await charge(keeper, agreement, FINAL)
      assert.equal(await charge(keeper, agreement), 400)
    },
  ),
  integration(
    'a payment with an agreement that was set up again after it was declined for good',
    ['P14 note'],
    async keeper => {
      const agreement = await activeAgreement(keeper.api)
      await charge(keeper, agreement, FINAL)
      await payOnPages(keeper.api, await setUpPayment(keeper.api, agreement))
      assert.equal(await charge(keeper, agreement), 201)
    },
  ),
  integration(
    'a payment with an agreement less than 48 hours after a declined one',
    ['C15 note', 'P14 note'],
    async keeper => {
      const agreement = await activeAgreement(keeper.api)
      await charge(keeper, agreement, AGAIN)
      await keeper.api.advance(2 * DAY - 2 * MINUTE)
      await charge(keeper, agreement)
    },
  ),
  integration(
    'sixteen tries with an agreement in 30 days, of which one is declined',
    ['C15 note', 'P14 note'],
    async keeper => {
      const agreement = await activeAgreement(keeper.api)
      await charge(keeper, agreement, AGAIN)
      await keeper.api.advance(2 * DAY)
      await times(15, () => charge(keeper, agreement))
    },
  ),
  integration(
    'sixteen tries with an agreement in 30 days, and one 48 hours after a declined one',
    ['P14 note'],
    async keeper => {
      const [many, few] = [await activeAgreement(keeper.api), await activeAgreement(keeper.api)]
      await times(16, () => charge(keeper, many))
      await charge(keeper, few, AGAIN)
      await keeper.api.advance(2 * DAY)
      await charge(keeper, few)
    },
  ),
]
