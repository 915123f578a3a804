/** The events of a payment in responses. Specification, *Payment events*. */
import type { Behaviour } from '../../core/account.ts'
import { flat } from '../../core/flat.ts'
import { timeOf } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { iso } from '../../core/time.ts'
import { type Addresses, getLink } from '../../platform/http/addresses.ts'
import { id, link, object, timestamp } from '../../platform/http/schema.ts'
import type { Payment } from './payment.ts'
import { type Refund, refundEnd, refundStatus } from './refund.ts'
import { paymentAddress, presentState } from './response.ts'
import { state } from './response-fields.ts'

export const paymentEvents = object('PaymentEvents', {
  payment_id: id,
  events: {
    type: 'array',
    description: 'Oldest first',
    items: object('PaymentEvent', {
      payment_id: id,
      state,
      updated: timestamp,
      _links: object('PaymentEventLinks', { payment_url: link }),
    }),
  },
  _links: object('PaymentEventsLinks', { self: link }),
})

/** `others` are the events of refunds, which all come after the payment has ended. */
export function presentEvents(
  { payment_id, events }: Payment,
  addresses: Addresses,
  others?: AsyncIterable<ShownEvent>,
) {
  const self = paymentAddress(payment_id, addresses)
  const present = ({ at, ...state }: ShownEvent) => ({
    payment_id,
    state,
    updated: iso(at),
    _links: { payment_url: getLink(self) },
  })
  const own = events.map(({ can_retry, ...event }) =>
    present({ ...presentState(event), at: event.at }),
  )
  async function* all() {
    yield* own
    if (others) for await (const event of others) yield present(event)
  }
  return {
    payment_id,
    events: others ? all() : own,
    _links: { self: getLink(flat(self, '/events')) },
  }
}

type ShownEvent = { status: string; finished: boolean; code?: string; message?: string; at: number }

/** The most ends of refunds that wait for their place: those beyond stand beside their beginning. */
const MOST_ENDS = 10_000

/** The events of refunds, by time. GOV.UK Pay shows one submitted event for all refunds of equal amounts. */
export async function* eventsWith(
  refunds: AsyncIterable<Refund>,
  behaviour: Behaviour,
  now: AccountTime,
) {
  const amounts = new Set<number>()
  /** The ends of refunds that come after the creation of the refund that was read last, by time. */
  const ends: ShownEvent[] = []
  function countUntil(time: number): number {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.at ?? 0) > time) high = middle
      else low = middle + 1
    }
    return low
  }
  const endsUntil = (time: number) => ends.splice(0, countUntil(time))
  for await (const refund of refunds) {
    const { refund_id, amount } = refund
    const created = timeOf(refund_id)
    yield* endsUntil(created)
    if (!amounts.has(amount)) yield { status: 'submitted', finished: false, at: created }
    amounts.add(amount)
    const status = refundStatus(refund, behaviour, now)
    if (status === 'submitted') continue
    const end = { status, finished: true, at: refundEnd(refund, behaviour) }
    if (end.at > created && ends.length < MOST_ENDS) ends.splice(countUntil(end.at), 0, end)
    else yield end
  }
  yield* endsUntil(Infinity)
}
