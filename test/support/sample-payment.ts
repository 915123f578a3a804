/** A domain payment in any status and mode, without a database. */
import { createNewId } from '../../src/core/ids.ts'
import type { NewPayment, Payment, PaymentEvent, Status } from '../../src/pay/payments/payment.ts'

/** The creation time, in milliseconds. Each later event is one second after the one before. */
export const CREATED = Date.parse('2026-09-14T08:20:31.407Z')

const newId = createNewId()

/** The statuses of the payment events that lead to each status. */
const histories: Record<Status, Status[]> = {
  created: ['created'],
  started: ['created', 'started'],
  submitted: ['created', 'started', 'submitted'],
  success: ['created', 'started', 'submitted', 'success'],
  capturable: ['created', 'started', 'submitted', 'capturable'],
  failed: ['created', 'started', 'failed'],
  error: ['created', 'started', 'error'],
  cancelled: ['created', 'cancelled'],
}

const codes = { failed: 'P0010', error: 'P0050', cancelled: 'P0040' } as const

export function samplePayment(
  status: Status,
  given: Partial<NewPayment> = {},
  rest: Partial<Payment> = {},
): Payment {
  const events = histories[status].map(
    (step, i): PaymentEvent => ({
      status: step,
      at: CREATED + i * 1000,
      ...(step in codes && { code: codes[step as keyof typeof codes] }), // `in` narrows the value, not the type
    }),
  )
  return {
    payment_id: newId(CREATED),
    room: 'sample',
    version: events.length,
    due_at: null,
    given: {
      amount: 4650,
      reference: 'PITCH-2207',
      description: 'Market pitch, week 38',
      language: 'en',
      delayed_capture: false,
      moto: false,
      authorisation_mode: 'web',
      return_url: 'https://markets.example.org/paid/41',
      ...given,
    },
    provider_id: '62666259-cb65-43e3-ac54-780a83318453',
    secret: '5cogrcbjq5fdooa4ffrgh6u3f9',
    events,
    success_chosen: false,
    refunded_amount: 0,
    ...rest,
  }
}
