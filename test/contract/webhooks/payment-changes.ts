/** Every change of a payment in the table of transitions, with the event types that webhooks receive. */
import { createAgreement } from '../../support/agreements.ts'
import type { Answer, Body, Client } from '../../support/client.ts'
import { authorise, choose, DECLINED, paidPayment } from '../../support/journeys.ts'

const moto = { authorisation_mode: 'moto_api' }
const delayed = { delayed_capture: true }
export const paymentPath = ({ payment_id }: Body): string => `/v1/payments/${payment_id}`

export type PaymentChange = {
  /** Creates the payment and brings it to the state before the change. */
  from: (api: Client) => Promise<Body>
  /** Makes the change. Returns the payment if the change creates it. */
  change: (api: Client, payment: Body) => Promise<unknown>
  /** The event types, without `card_payment_`. */
  sends: string[]
}

async function chosen(api: Client, fields: object = {}): Promise<Body> {
  const payment = await api.createPayment({ ...fields })
  await choose(api, payment, 'success')
  return payment
}

type From = PaymentChange['from']
type Change = (api: Client, payment: Body) => Promise<Answer>

const created =
  (fields = {}) =>
  (api: Client) =>
    api.createPayment(fields)
const paid =
  (fields = {}) =>
  (api: Client) =>
    paidPayment(api, fields)
const opened: From = async api => {
  const payment = await api.createPayment()
  await api.get(payment._links.next_url.href)
  return payment
}
const picks =
  (scenario: string): Change =>
  (api, payment) =>
    choose(api, payment, scenario)
const confirm: Change = (api, { _links }) => api.postForm(`${_links.next_url.href}/confirm`, {})
const cancel: Change = (api, payment) => api.post(`${paymentPath(payment)}/cancel`)
const capture: Change = (api, payment) => api.post(`${paymentPath(payment)}/capture`)
const refund =
  (amount: number): Change =>
  (api, payment) =>
    api.post(`${paymentPath(payment)}/refunds`, { amount })

const open: Change = (api, { _links }) => api.get(_links.next_url.href)
const decline: Change = (api, payment) => authorise(api, payment, { card_number: DECLINED })
const leave: Change = (api, { _links }) =>
  api.postForm(`${_links.next_url.href}/confirm`, { scenario: 'cancel' })

const nothing: From = async () => undefined
const setsUp: From = async api => {
  const { agreement_id } = await createAgreement(api)
  return chosen(api, { set_up_agreement: agreement_id })
}
const BOTH = ['succeeded', 'captured']

const row = (from: From, change: PaymentChange['change'], ...sends: string[]): PaymentChange => ({
  from,
  change,
  sends,
})

/** The rows of the table, in the order of the specification. */
export const changes: Record<string, PaymentChange> = {
  'is created in web mode': row(nothing, created()),
  'is created in moto_api mode': row(nothing, created(moto)),
  'is opened': row(created(), open),
  'is authorised in moto_api mode': row(created(moto), authorise, ...BOTH),
  'is authorised in moto_api mode with delayed_capture': row(
    created({ ...moto, ...delayed }),
    authorise,
    'succeeded',
  ),
  'is declined in moto_api mode': row(created(moto), decline, 'failed'),
  'has success chosen on its page': row(opened, picks('success')),
  'is confirmed on the page': row(chosen, confirm, ...BOTH),
  'is confirmed on the page with delayed_capture': row(
    api => chosen(api, delayed),
    confirm,
    'succeeded',
  ),
  'is declined on the page': row(opened, picks('declined'), 'failed'),
  'has a provider error on the page': row(opened, picks('error'), 'failed'),
  'is cancelled by the user on the page': row(opened, picks('cancel'), 'failed'),
  'is cancelled by the user on the second page': row(chosen, leave, 'failed'),
  'is declined on a page that was never opened': row(created(), picks('declined'), 'failed'),
  'is cancelled through the API in created': row(created(), cancel, 'cancelled'),
  'is cancelled through the API in started': row(opened, cancel, 'cancelled'),
  'is cancelled through the API in capturable': row(paid(delayed), cancel, 'cancelled'),
  'is captured': row(paid(delayed), capture, 'captured'),
  'is refunded in part': row(paid(), refund(1), 'refunded'),
  'is refunded in full': row(paid(), refund(4650), 'refunded'),
  'sets up an agreement': row(setsUp, confirm, ...BOTH),
}

const once =
  (from: From, change: Change): From =>
  async api => {
    const payment = await from(api)
    await change(api, payment)
    return payment
  }

/** Requests that are refused or change nothing, and so send nothing. */
export const refusals: Record<string, PaymentChange> = {
  'is confirmed again': row(once(chosen, confirm), confirm),
  'is refused a cancel': row(paid(), cancel),
  'is refused a capture': row(created(), capture),
  'is refused a refund': row(created(), refund(1)),
  'is authorised with a used token': row(once(created(moto), authorise), authorise),
}
