/** Every change of a payment in the table of transitions, with the event types that webhooks receive. */
import { createAgreement } from '../../support/agreements.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { authorise, choose, DECLINED, paidPayment } from '../../support/journeys.ts'

const moto = { authorisation_mode: 'moto_api' }
export const delayed = { delayed_capture: true }
export const paymentPath = ({ payment_id }: Body): string => `/v1/payments/${payment_id}`

export type PaymentChange = {
  /** Creates the payment and brings it to the state before the change. */
  from: (api: Client) => Promise<Body>
  /** Makes the change. Returns the payment if the change creates it. */
  change: (api: Client, payment: Body) => Promise<unknown>
  /** The event types, without `card_payment_`. */
  sends: string[]
}

/** A payment with success chosen on its first page. */
export async function chosen(api: Client, fields: object = {}): Promise<Body> {
  const payment = await api.createPayment({ ...fields })
  await choose(api, payment, 'success')
  return payment
}

type From = PaymentChange['from']
type Change = (api: Client, payment: Body) => Promise<Answer>

const created =
  (fields: object = {}): From =>
  api =>
    api.createPayment({ ...fields })
const paid =
  (fields: object = {}): From =>
  api =>
    paidPayment(api, { ...fields })
const opened: From = async api => {
  const payment = await api.createPayment()
  await api.get(payment._links.next_url.href)
  return payment
}
const picks =
  (scenario: string): Change =>
  (api, payment) =>
    choose(api, payment, scenario)
export const confirm: Change = (api, { _links }) =>
  api.postForm(`${_links.next_url.href}/confirm`, {})
const cancel: Change = (api, payment) => api.post(`${paymentPath(payment)}/cancel`)
const capture: Change = (api, payment) => api.post(`${paymentPath(payment)}/capture`)
const refund =
  (amount: number): Change =>
  (api, payment) =>
    api.post(`${paymentPath(payment)}/refunds`, { amount })

const nothing: From = async () => undefined
const BOTH = ['succeeded', 'captured']

/** The rows of the table, in the order of the specification. */
export const changes: Record<string, PaymentChange> = {
  'is created in web mode': { from: nothing, change: created(), sends: [] },
  'is created in moto_api mode': { from: nothing, change: created(moto), sends: [] },
  'is opened': {
    from: created(),
    change: (api, { _links }) => api.get(_links.next_url.href),
    sends: [],
  },
  'is authorised in moto_api mode': { from: created(moto), change: authorise, sends: BOTH },
  'is authorised in moto_api mode with delayed_capture': {
    from: created({ ...moto, ...delayed }),
    change: authorise,
    sends: ['succeeded'],
  },
  'is declined in moto_api mode': {
    from: created(moto),
    change: (api, payment) => authorise(api, payment, { card_number: DECLINED }),
    sends: ['failed'],
  },
  'has success chosen on its page': { from: opened, change: picks('success'), sends: [] },
  'is confirmed on the page': { from: chosen, change: confirm, sends: BOTH },
  'is confirmed on the page with delayed_capture': {
    from: api => chosen(api, delayed),
    change: confirm,
    sends: ['succeeded'],
  },
  'is declined on the page': { from: opened, change: picks('declined'), sends: ['failed'] },
  'has a provider error on the page': { from: opened, change: picks('error'), sends: ['failed'] },
  'is cancelled by the user on the page': {
    from: opened,
    change: picks('cancel'),
    sends: ['failed'],
  },
  'is cancelled by the user on the second page': {
    from: chosen,
    change: (api, { _links }) =>
      api.postForm(`${_links.next_url.href}/confirm`, { scenario: 'cancel' }),
    sends: ['failed'],
  },
  'is declined on a page that was never opened': {
    from: created(),
    change: picks('declined'),
    sends: ['failed'],
  },
  'is cancelled through the API in created': {
    from: created(),
    change: cancel,
    sends: ['cancelled'],
  },
  'is cancelled through the API in started': {
    from: opened,
    change: cancel,
    sends: ['cancelled'],
  },
  'is cancelled through the API in capturable': {
    from: paid(delayed),
    change: cancel,
    sends: ['cancelled'],
  },
  'is captured': { from: paid(delayed), change: capture, sends: ['captured'] },
  'is refunded in part': { from: paid(), change: refund(1), sends: ['refunded'] },
  'is refunded in full': { from: paid(), change: refund(4650), sends: ['refunded'] },
  'sets up an agreement': {
    from: async api => {
      const { agreement_id } = await createAgreement(api)
      return chosen(api, { set_up_agreement: agreement_id })
    },
    change: confirm,
    sends: BOTH,
  },
}

/** `from`, and then once the change. */
const once =
  (from: From, change: Change): From =>
  async api => {
    const payment = await from(api)
    await change(api, payment)
    return payment
  }

/** Requests that are refused or change nothing, and so send nothing. */
export const refusals: Record<string, PaymentChange> = {
  'is confirmed again': { from: once(chosen, confirm), change: confirm, sends: [] },
  'is refused a cancel': { from: paid(), change: cancel, sends: [] },
  'is refused a capture': { from: created(), change: capture, sends: [] },
  'is refused a refund': { from: created(), change: refund(1), sends: [] },
  'is authorised with a used token': {
    from: once(created(moto), authorise),
    change: authorise,
    sends: [],
  },
}

/** Creates a payment and cancels it. Each webhook receives one message. */
export async function cancelOne(api: Client): Promise<Answer> {
  return api.post(`${paymentPath(await api.createPayment())}/cancel`)
}
