/** Examples for /control/openapi.json. Loaded when somebody reads it. */
import { notAnObject, wrongMediaType } from '../../core/errors.ts'
import { version } from '../../core/version.ts'
import { payments } from '../../pay/payments/examples.ts'
import { exampleAddresses } from '../../platform/http/addresses.ts'
import { JSON_TYPE } from '../../platform/http/body.ts'
import { pathParameter } from '../../platform/http/openapi.ts'
import { noSuchField, wrongKey } from './errors.ts'

export const ID = '06gq1c5v3bb47ajnkkpgtcun2h'
export const NAME = 'tests.06gq1n36'
const { payment_id, reference } = payments.paid
const AT = '2026-03-29T00:59:58.000Z'

export const paymentId = pathParameter('payment_id', 'A payment of the account', payment_id)
export const listenerId = pathParameter('webhook_id', 'A listener of the account', ID)

export const badBody = [notAnObject('C0197'), wrongMediaType(400, JSON_TYPE)]
export const unknownField = noSuchField('nam', ['name', 'at', 'frozen'])
export const unknownParameter = noSuchField('refrence', ['reference', 'status', 'wait'])
export const parentOnly = wrongKey(NAME, 'tests')

export const clock = { now: AT, frozen: true }

export const overview = {
  version,
  account: 'tests',
  parent: null,
  epoch: 3,
  plans: 0,
  clock,
  has: [
    'accounts',
    'clock',
    'payments',
    'plans',
    'check',
    'listeners',
    'messages',
    'requests',
    'console',
  ],
}

const account = { account: NAME, clock, expires: '2026-12-01T09:12:44.201Z' }
export const madeAccount = { ...account, key: 'api_test_EXAMPLE' }
export const accounts = { results: [account] }

export const { declined, partlyRefunded } = payments
export const foundPayments = {
  One: { results: [payments.paid] },
  None: { results: [] },
}

export const newPlans = {
  'The card of one payment is declined': { given: { reference: 'R-7' }, scenario: 'declined' },
  'The second and third creation get a 503': {
    on: 'createPayment',
    skip: 1,
    times: 2,
    answer: { status: 503 },
  },
  'The payment is made, and its answer is lost': {
    on: 'createPayment',
    reset: true,
    when: 'after',
  },
  'A third of all reads is slow': {
    on: 'readPayment',
    delay: [200, 900],
    times: 'always',
    probability: 0.3,
    seed: 7,
  },
}
export const plan = {
  plan_id: ID,
  on: 'createPayment',
  given: { reference: 'R-7' },
  skip: 0,
  times: 1,
  probability: 1,
  seed: 0,
  scenario: 'declined',
  seen: 0,
  acted: 0,
}

const answer = { headers: { 'content-type': 'application/json' }, body: { payment_id } }
export const requests = {
  results: [
    {
      request_id: ID,
      at: AT,
      machine_at: '2026-11-24T09:12:44.201Z',
      operation: 'createPayment',
      method: 'POST',
      path: '/v1/payments',
      query: '',
      kind: 'api',
      payment_id,
      reference,
      headers: { 'idempotency-key': 'k-1' },
      body: { amount: 2000 },
      status: 201,
      code: null,
      ms: 3.1,
      plan: null,
      answered: 'sent',
      answer,
      in_production: [
        {
          rule: 'P4',
          level: 'note',
          sentence:
            'GOV.UK Pay ignores Idempotency-Key here: two equal requests make two payments.',
          advice: 'Make sure that one order makes one payment. Only agreement mode uses the key.',
        },
      ],
    },
  ],
  next: `${ID}-1`,
  previous: ID,
}

const raw = `{"resource_id":"${payment_id}"}`
export const messages = {
  results: [
    {
      message_id: ID,
      webhook_id: ID,
      event_type: 'card_payment_succeeded',
      payment_id,
      at: AT,
      delivery: 'PENDING',
      attempts: [],
      raw,
      headers: { 'Content-Type': 'application/json', 'Pay-Signature': 'e3b0c442' },
    },
  ],
  next: `${ID}-1`,
  previous: ID,
}

export const sentAgain = {
  results: [
    {
      exchange_id: ID,
      status: 'SUCCESSFUL',
      status_code: 200,
      result: '200 OK',
      response_time: 12,
      answer: { headers: {}, body: null },
    },
  ],
}

export const askedReceiver = {
  message_id: ID,
  cause: 'body:printed-python',
  sentence:
    'Your receiver checks a wrong signature: what it computes is made of the body parsed and printed again by json.dumps() of Python.',
  advice:
    'Check the signature over the bytes as they arrived, before anything parses, decodes or prints them:\nFlask: request.get_data()',
  posts: 7,
  evidence: [ID],
}

export const probed = {
  version,
  webhook_id: ID,
  posts: 16,
  findings: [
    {
      rule: 'R3',
      level: 'warn',
      title: 'The same message twice',
      sentence: 'The receiver accepts a message and refuses the same one when it comes again.',
      advice: 'Answer 2xx to a webhook_message_id that you know, and do nothing.',
      source: 'Documentation of GOV.UK Pay: Webhooks',
      times: 2,
      first: AT,
      newest: AT,
      evidence: [ID],
    },
  ],
}

export const listener = { webhook_id: ID, signing_key: 'webhook_test_EXAMPLE', other: false }

export const attemptResult = {
  attempt_id: ID,
  status_code: 200,
  response_time: 12,
  result: '200 OK',
}

export const consoleLink = {
  url: `${exampleAddresses.api}/console/enter?code=EXAMPLE`,
  expires: '2026-11-24T09:13:44.201Z',
}

export const check = {
  version: overview.version,
  account: 'default',
  from: '2026-09-14T08:20:31.000Z',
  to: '2026-09-14T09:20:31.000Z',
  kept: 41,
  not_kept: 0,
  findings: [
    {
      rule: 'P4',
      level: 'fail',
      title: 'A key that GOV.UK Pay ignores',
      sentence:
        'GOV.UK Pay ignores Idempotency-Key here: this request would make a second payment.',
      advice: 'Make sure that one order makes one payment. Only agreement mode uses the key.',
      source: 'Idempotency-Key in the modes web and moto_api',
      times: 2,
      first: '2026-09-14T08:20:31.000Z',
      newest: '2026-09-14T08:20:32.000Z',
      evidence: [ID, ID],
    },
    {
      rule: 'C9',
      level: 'not seen',
      title: 'An agreement payment that is believed at once',
      sentence: 'No agreement payment was made 10 minutes ago or more.',
      advice: 'Read the payment later, or take the messages of a webhook.',
      source: 'Payments in agreement mode',
      times: 0,
      first: null,
      newest: null,
      evidence: [],
    },
  ],
}
