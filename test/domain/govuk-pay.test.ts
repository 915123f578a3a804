import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '../../src/pay/payments/advance.ts'
import type { Payment } from '../../src/pay/payments/payment.ts'
import { presentPayment } from '../../src/pay/payments/response.ts'
import type { Trigger } from '../../src/pay/payments/transitions.ts'
import { eventTypes, messagesFor } from '../../src/pay/webhooks/webhook.ts'
import { CREATED, samplePayment } from '../support/sample-payment.ts'

const addresses = { api: 'http://127.0.0.1:3000', pages: 'http://127.0.0.1:3000' }
const webhook = {
  webhook_id: 'w'.repeat(26),
  room: 'default',
  status: 'ACTIVE',
  callback_url: 'https://hooks.example.org/',
  subscriptions: eventTypes,
  signing_key: 'k',
} as const

function messageOf(payment: Payment, trigger: Trigger) {
  const { after, at, sends } = advance(payment, trigger, CREATED) ?? assert.fail(trigger)
  const { payment_id } = after
  const resource = presentPayment(after, addresses)
  const behaviour = 'govuk-pay'
  const change = { payment_id, at, eventTypes: sends, behaviour, resource } as const
  const messages = messagesFor(change, [webhook], () => 'm'.repeat(26))
  return JSON.parse(messages.at(-1)?.body ?? '')
}

test('a message of GOV.UK Pay has only its fields, in the order in which its database keeps them', () => {
  const given = { metadata: { later: 1, a: 2 }, email: 'a@example.org' }
  const started = samplePayment('started', given, { success_chosen: true })
  const { resource, ...head } = messageOf(started, 'confirm')
  assert.deepEqual(Object.entries(head), [
    ['webhook_message_id', 'm'.repeat(26)],
    ['created_date', new Date(CREATED + 1000).toISOString()],
    ['resource_id', started.payment_id],
    ['api_version', 1],
    ['resource_type', 'PAYMENT'],
    ['event_type', 'card_payment_captured'],
  ])
  assert.equal(
    Object.keys(resource).join(' '),
    'moto email state amount language metadata reference payment_id return_url description card_details created_date refund_summary delayed_capture payment_provider settlement_summary authorisation_summary',
  )
  assert.deepEqual(Object.keys(resource.metadata), ['a', 'later'])
  assert.equal(
    Object.keys(resource.card_details).join(' '),
    'card_type card_brand expiry_date billing_address cardholder_name last_digits_card_number first_digits_card_number',
  )
  assert.deepEqual(resource.authorisation_summary, { three_d_secure: { required: false } })
})

test('unknown fields of a card are null, but its brand is an empty text, and 3D Secure is mentioned after a card only', () => {
  const prefilled = { cardholder_name: 'Ada', billing_address: { line1: '1 Road' } }
  const { resource } = messageOf(samplePayment('created', { prefilled }), 'cancel')
  const { card_details, authorisation_summary, email } = resource
  assert.deepEqual(card_details, {
    last_digits_card_number: null,
    first_digits_card_number: null,
    cardholder_name: 'Ada',
    expiry_date: null,
    billing_address: { line1: '1 Road', line2: null, postcode: null, city: null, country: null },
    card_brand: '',
    card_type: null,
  })
  assert.deepEqual([authorisation_summary, email], [undefined, undefined])
  assert.equal('card_details' in messageOf(samplePayment('created'), 'cancel').resource, false)
  const error = messageOf(samplePayment('started'), 'choose_error')
  assert.equal(error.resource.card_details.last_digits_card_number, '4242')
  assert.equal('authorisation_summary' in error.resource, false)
})

test('a payment that failed has the status of the ledger, and both kinds of cancel are one', () => {
  const cancelled = 'Payment was cancelled by the user'
  for (const [trigger, status, code, message] of [
    ['choose_declined', 'declined', 'P0010', 'Payment method rejected'],
    ['choose_cancel', 'cancelled', 'P0030', cancelled],
    ['cancel', 'cancelled', 'P0030', cancelled],
    ['choose_error', 'error', 'P0050', 'Payment provider returned an error'],
    ['expire', 'timedout', 'P0020', 'Payment expired'],
  ] as const) {
    const started = samplePayment('started', {}, { behaviour: 'govuk-pay' })
    const { state } = messageOf(started, trigger).resource
    assert.deepEqual(state, { status, finished: true, code, message })
  }
  const recurring = samplePayment('created', { authorisation_mode: 'agreement' })
  const { state } = messageOf(recurring, 'authorise_declined').resource
  assert.deepEqual(Object.keys(state), ['code', 'status', 'message', 'finished'])
})

test('a payment with an agreement has no link to pages, also while it is open', () => {
  const charge = samplePayment('created', { authorisation_mode: 'agreement' })
  const links = Object.keys(presentPayment(charge, addresses)._links)
  assert.deepEqual(links, ['self', 'events', 'refunds', 'cancel'])
})
