import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advance } from '../../src/pay/payments/advance.ts'
import type { Payment } from '../../src/pay/payments/payment.ts'
import { presentPayment } from '../../src/pay/payments/response.ts'
import type { Trigger } from '../../src/pay/payments/transitions.ts'
import { asGovukPay } from '../../src/pay/webhooks/govuk-pay.ts'
import { messagesFor } from '../../src/pay/webhooks/webhook.ts'
import { CREATED, samplePayment } from '../support/sample-payment.ts'

const addresses = { api: 'http://127.0.0.1:3000', pages: 'http://127.0.0.1:3000' }
const webhook = {
  webhook_id: 'w'.repeat(26),
  room: 'default',
  status: 'ACTIVE',
  callback_url: 'https://hooks.example.org/',
  subscriptions: ['card_payment_failed', 'card_payment_cancelled', 'card_payment_captured'],
  signing_key: 'k',
} as const

function messageOf(payment: Payment, trigger: Trigger) {
  const { after, at, sends } = advance(payment, trigger, CREATED + 1) ?? assert.fail(trigger)
  const resource = presentPayment(after, addresses)
  const change = { payment_id: after.payment_id, at, eventTypes: sends, resource }
  const [message] = messagesFor(change, [webhook], () => 'm'.repeat(26))
  return message ?? assert.fail('no message')
}

test('a message of GOV.UK Pay has its resource_type, only its fields, and all that belong to a card', () => {
  const started = samplePayment('started', { metadata: { a: 1 } }, { success_chosen: true })
  const { body } = messageOf(started, 'confirm')
  const { resource, ...head } = JSON.parse(asGovukPay(body))
  const ours = JSON.parse(body)
  assert.deepEqual(head, {
    webhook_message_id: 'm'.repeat(26),
    api_version: 1,
    created_date: ours.created_date,
    resource_id: started.payment_id,
    resource_type: 'PAYMENT',
    event_type: 'card_payment_captured',
  })
  const { _links, provider_id, authorisation_mode, card_brand, agreement_payment_type, ...kept } =
    ours.resource
  assert.ok(_links && provider_id && authorisation_mode && card_brand)
  assert.deepEqual(resource, kept)
})

test('what is not known of a card is null, and 3D Secure is always mentioned', () => {
  const prefilled = { cardholder_name: 'Ada', billing_address: { line1: '1 Road' } }
  const { body } = messageOf(samplePayment('created', { prefilled }), 'cancel')
  const { card_details, authorisation_summary, email } = JSON.parse(asGovukPay(body)).resource
  assert.deepEqual(card_details, {
    last_digits_card_number: null,
    first_digits_card_number: null,
    cardholder_name: 'Ada',
    expiry_date: null,
    billing_address: { line1: '1 Road', line2: null, postcode: null, city: null, country: null },
    card_brand: null,
    card_type: null,
  })
  assert.deepEqual(authorisation_summary, { three_d_secure: { required: false } })
  assert.equal(email, undefined)
  const plain = messageOf(samplePayment('created'), 'cancel')
  assert.equal('card_details' in JSON.parse(asGovukPay(plain.body)).resource, false)
})

test('a payment that failed has the status of the ledger, and both kinds of cancel are one', () => {
  const rejected = 'Payment method rejected'
  const cancelled = 'Payment was cancelled by the user'
  for (const [trigger, status, code, message] of [
    ['choose_declined', 'declined', 'P0010', rejected],
    ['choose_cancel', 'cancelled', 'P0030', cancelled],
    ['cancel', 'cancelled', 'P0030', cancelled],
    ['choose_error', 'error', 'P0050', 'Payment provider returned an error'],
  ] as const) {
    const sent = JSON.parse(asGovukPay(messageOf(samplePayment('started'), trigger).body))
    assert.equal(sent.event_type, 'card_payment_failed')
    assert.deepEqual(sent.resource.state, { status, finished: true, code, message })
  }
  const recurring = samplePayment('created', { authorisation_mode: 'agreement' })
  const { body } = messageOf(recurring, 'authorise_declined')
  const { state } = JSON.parse(asGovukPay(body)).resource
  assert.deepEqual(Object.keys(state), ['status', 'finished', 'code', 'message'])
  const expired = JSON.parse(body)
  expired.resource.state = { status: 'failed', finished: true, code: 'P0020', message: 'x' }
  assert.equal(JSON.parse(asGovukPay(JSON.stringify(expired))).resource.state.status, 'timedout')
})

test('a message that has the shape already stays as it is', () => {
  const once = asGovukPay(messageOf(samplePayment('started'), 'cancel').body)
  assert.equal(asGovukPay(once), once)
})

/** The statuses that the public receiver of a department knows, and the moves that it accepts from `submitted`. */
const publicReceiver = (body: string): 'accepted' | 'unknown status' => {
  const { resource_type, resource } = JSON.parse(body)
  assert.equal(resource_type.toLowerCase(), 'payment')
  const accepted = ['success', 'failed', 'cancelled', 'error']
  return accepted.includes(resource.state.status) ? 'accepted' : 'unknown status'
}

test('a public receiver accepts all our messages, and not those of GOV.UK Pay about a declined payment', () => {
  for (const [trigger, ofGovukPay] of [
    ['confirm', 'accepted'],
    ['choose_declined', 'unknown status'],
    ['choose_cancel', 'accepted'],
    ['choose_error', 'accepted'],
    ['cancel', 'accepted'],
  ] as const) {
    const { body } = messageOf(samplePayment('started', {}, { success_chosen: true }), trigger)
    assert.equal(publicReceiver(body), 'accepted', trigger)
    assert.equal(publicReceiver(asGovukPay(body)), ofGovukPay, trigger)
  }
})
