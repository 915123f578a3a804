import { endpoint, json, noContent } from '../http/describe.ts'
import { pageOf } from '../http/schema.ts'
import { cardAuthorisation, newPayment, payment, paymentEvents } from './schema.ts'

const tag = 'Payments'

export const create = endpoint(tag, 'Create a payment', {
  body: newPayment,
  response: { 201: json('The payment', payment) },
  errors: {
    400: 'A field is missing, invalid or not allowed: P0101, P0102, P0103, P0104, P0197',
    409: 'The Idempotency-Key was used before: P0191',
    415: 'The body is not JSON: P0920',
    422: 'A value is outside its limits: P0102',
  },
})

export const read = endpoint(tag, 'Read a payment', {
  response: { 200: json('The payment', payment) },
  errors: { 404: 'No such payment: P0200' },
})

export const search = endpoint(tag, 'Search payments', {
  response: { 200: json('One page, newest first', pageOf(payment)) },
  errors: { 404: 'Past the last page: P0402', 422: 'A parameter is not valid: P0401' },
})

export const events = endpoint(tag, 'Read the events of a payment', {
  response: { 200: json('The events, oldest first', paymentEvents) },
  errors: { 404: 'No such payment: P0300' },
})

export const cancel = endpoint(tag, 'Cancel a payment', {
  response: { 204: noContent },
  errors: { 400: 'The state does not allow it: P0501', 404: 'No such payment: P0500' },
})

export const capture = endpoint(tag, 'Capture a payment', {
  response: { 204: noContent },
  errors: { 404: 'No such payment: P1000', 409: 'The state does not allow it: P1003' },
})

export const authorise = endpoint(tag, 'Complete a moto_api payment with a card', {
  body: cardAuthorisation,
  open: true,
  response: { 204: noContent },
  errors: {
    400: 'The token is unknown or used, or the body is no object: P1211, P1212, P0197',
    402: 'The card was declined: P0010',
    415: 'The body is neither JSON nor a form: P0920',
    422: 'A field is missing or invalid: P0101, P0102',
  },
})
