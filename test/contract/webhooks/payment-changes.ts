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

export const confirm = (api: Client, { _links }: Body) =>
  api.postForm(`${_links.next_url.href}/confirm`, {})
const opened = async (api: Client): Promise<Body> => {
  const payment = await api.createPayment()
  await api.get(payment._links.next_url.href)
  return payment
}

/** The rows of the table, in the order of the specification. */
export const changes: Record<string, PaymentChange> = {
  'is created in web mode': {
    from: async () => undefined,
    change: api => api.createPayment(),
    sends: [],
  },
  'is created in moto_api mode': {
    from: async () => undefined,
    change: api => api.createPayment(moto),
    sends: [],
  },
  'is opened': {
    from: api => api.createPayment(),
    change: (api, { _links }) => api.get(_links.next_url.href),
    sends: [],
  },
  'is authorised in moto_api mode': {
    from: api => api.createPayment(moto),
    change: authorise,
    sends: ['succeeded', 'captured'],
  },
  'is authorised in moto_api mode with delayed_capture': {
    from: api => api.createPayment({ ...moto, ...delayed }),
    change: authorise,
    sends: ['succeeded'],
  },
  'is declined in moto_api mode': {
    from: api => api.createPayment(moto),
    change: (api, payment) => authorise(api, payment, { card_number: DECLINED }),
    sends: ['failed'],
  },
  'has success chosen on its page': {
    from: opened,
    change: (api, payment) => choose(api, payment, 'success'),
    sends: [],
  },
  'is confirmed on the page': { from: chosen, change: confirm, sends: ['succeeded', 'captured'] },
  'is confirmed on the page with delayed_capture': {
    from: api => chosen(api, delayed),
    change: confirm,
    sends: ['succeeded'],
  },
  'is declined on the page': {
    from: opened,
    change: (api, payment) => choose(api, payment, 'declined'),
    sends: ['failed'],
  },
  'has a provider error on the page': {
    from: opened,
    change: (api, payment) => choose(api, payment, 'error'),
    sends: ['failed'],
  },
  'is cancelled by the user on the page': {
    from: opened,
    change: (api, payment) => choose(api, payment, 'cancel'),
    sends: ['failed'],
  },
  'is cancelled by the user on the second page': {
    from: chosen,
    change: (api, { _links }) =>
      api.postForm(`${_links.next_url.href}/confirm`, { scenario: 'cancel' }),
    sends: ['failed'],
  },
  'is declined on a page that was never opened': {
    from: api => api.createPayment(),
    change: (api, payment) => choose(api, payment, 'declined'),
    sends: ['failed'],
  },
  'is cancelled through the API in created': {
    from: api => api.createPayment(),
    change: (api, payment) => api.post(`${paymentPath(payment)}/cancel`),
    sends: ['cancelled'],
  },
  'is cancelled through the API in started': {
    from: opened,
    change: (api, payment) => api.post(`${paymentPath(payment)}/cancel`),
    sends: ['cancelled'],
  },
  'is cancelled through the API in capturable': {
    from: api => paidPayment(api, delayed),
    change: (api, payment) => api.post(`${paymentPath(payment)}/cancel`),
    sends: ['cancelled'],
  },
  'is captured': {
    from: api => paidPayment(api, delayed),
    change: (api, payment) => api.post(`${paymentPath(payment)}/capture`),
    sends: ['captured'],
  },
  'is refunded in part': {
    from: api => paidPayment(api),
    change: (api, payment) => api.post(`${paymentPath(payment)}/refunds`, { amount: 1 }),
    sends: ['refunded'],
  },
  'is refunded in full': {
    from: api => paidPayment(api),
    change: (api, payment) => api.post(`${paymentPath(payment)}/refunds`, { amount: 4650 }),
    sends: ['refunded'],
  },
  'sets up an agreement': {
    from: async api => {
      const { agreement_id } = await createAgreement(api)
      return chosen(api, { set_up_agreement: agreement_id })
    },
    change: confirm,
    sends: ['succeeded', 'captured'],
  },
}

/** Requests that are refused or change nothing, and so send nothing. */
export const refusals: Record<string, PaymentChange> = {
  'is confirmed again': {
    from: async api => {
      const payment = await chosen(api)
      await confirm(api, payment)
      return payment
    },
    change: confirm,
    sends: [],
  },
  'is refused a cancel': {
    from: api => paidPayment(api),
    change: (api, payment) => api.post(`${paymentPath(payment)}/cancel`),
    sends: [],
  },
  'is refused a capture': {
    from: api => api.createPayment(),
    change: (api, payment) => api.post(`${paymentPath(payment)}/capture`),
    sends: [],
  },
  'is refused a refund': {
    from: api => api.createPayment(),
    change: (api, payment) => api.post(`${paymentPath(payment)}/refunds`, { amount: 1 }),
    sends: [],
  },
  'is authorised with a used token': {
    from: async api => {
      const payment = await api.createPayment(moto)
      await authorise(api, payment)
      return payment
    },
    change: authorise,
    sends: [],
  },
}

/** Creates a payment and cancels it. Each webhook receives one message. */
export async function cancelOne(api: Client): Promise<Answer> {
  return api.post(`${paymentPath(await api.createPayment())}/cancel`)
}
