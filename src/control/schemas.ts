/** The schemas of responses below /control, for /control/openapi.json. Loaded when somebody reads it. */
import { object, timestamp } from '../http/schema.ts'
import { scenarios } from '../payments/payment.ts'
import { newPayment } from '../payments/request.ts'
import { damages } from '../webhooks/send-again.ts'
import { eventTypes } from '../webhooks/webhook.ts'
import { webhookMessage } from '../webhooks/wire.ts'

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const nullable = { type: ['string', 'null'] } as const
const headers = { type: 'object', additionalProperties: text } as const
const identifier = { type: 'string', pattern: '^[0-9a-v]{26}$' } as const

export const clock = object('Clock', {
  now: { ...timestamp, description: "The account's time" },
  frozen: { type: 'boolean', description: 'Whether it stands still' },
})

export const overview = object('Control', {
  version: { ...text, description: 'The version of this Farthing' },
  account: text,
  parent: { ...nullable, description: 'For a test account, the account that made it' },
  epoch: { ...count, description: 'The number of resets of the account' },
  plans: { ...count, description: 'The number of its plans' },
  clock,
  has: {
    type: 'array',
    items: text,
    description: 'The features of the control API in this version',
  },
})

const expires = { ...timestamp, description: 'When it ends, on the machine’s clock' }
export const madeAccount = object('MadeAccount', {
  account: { ...text, description: 'Its name' },
  key: { ...text, description: 'Its API key, shown only now' },
  clock,
  expires,
})
export const accounts = object('TestAccounts', {
  results: {
    type: 'array',
    maxItems: 500,
    description: 'Newest first',
    items: object('TestAccount', { account: text, clock, expires }),
  },
})

const firstClock = {
  at: {
    type: 'string',
    format: 'date-time',
    description: 'The time at which the clock begins, from 2001 to 2099, in UTC',
  },
  frozen: { type: 'boolean', description: 'Whether it stands still: true if `at` is given' },
} as const
export const newAccount = object(
  'NewAccount',
  {},
  { name: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$' }, ...firstClock },
)
export const beginning = object('Beginning', {}, firstClock)

export const clockMove = object(
  'ClockMove',
  {},
  {
    advance: { type: 'integer', minimum: 0, description: 'Milliseconds, at most ten years' },
    freeze: {
      anyOf: [{ const: true }, { type: 'string', format: 'date-time' }],
      description: 'true, or a later time to which the clock goes',
    },
    resume: { const: true },
  },
)

const scenario = { type: 'string', enum: scenarios } as const
export const outcome = object(
  'Outcome',
  {},
  { scenario: { ...scenario, default: 'success', description: 'The choice on the hosted pages' } },
)
export const builtPayment = {
  ...object('BuiltPayment', {}, newPayment.properties),
  properties: {
    ...newPayment.properties,
    scenario: { ...scenario, description: 'Completes it' },
    capture: { const: true, description: 'Then captures it' },
    refund: {
      anyOf: [{ const: true }, { type: 'integer', minimum: 1 }],
      description: 'Then refunds so many pence; true refunds all',
    },
    cancel: { const: true, description: 'Then cancels it through the API' },
  },
}

const which = {
  on: { ...text, description: 'An operationId of /openapi.json; absent for any' },
  given: {
    type: 'object',
    additionalProperties: true,
    description: 'Fields with which the payment must have been created; of metadata, these keys',
  },
  payment_id: identifier,
} as const
const often = {
  skip: { ...count, default: 0, description: 'The number of matching requests that pass first' },
  times: {
    anyOf: [{ type: 'integer', minimum: 1 }, { const: 'always' }],
    default: 1,
    description: 'The number of times that it then acts',
  },
  probability: { type: 'number', minimum: 0, maximum: 1, default: 1 },
  seed: { ...count, default: 0, description: 'Of the draw' },
} as const
const effect = {
  scenario,
  when: { type: 'string', enum: ['before', 'after'], default: 'before' },
  delay: {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: 60_000 },
      { type: 'array', minItems: 2, maxItems: 2, items: { type: 'integer' } },
    ],
    description: 'Milliseconds, or the least and the most',
  },
  answer: {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'integer', minimum: 400, maximum: 599 }, code: text },
    description: 'An error. 401, 429, 500 and 503 have a code of their own',
  },
  reset: { const: true, description: 'A TCP reset in place of a response' },
} as const
export const newPlan = object('NewPlan', {}, { ...which, ...often, ...effect })
export const plan = object(
  'Plan',
  {
    plan_id: identifier,
    ...often,
    seen: { ...count, description: 'The number of requests that matched' },
    acted: { ...count, description: 'The number of times that it acted' },
  },
  { ...which, ...effect },
)
export const plans = object('Plans', {
  results: { type: 'array', maxItems: 100, items: plan, description: 'In their order' },
})

const anyJson = { description: 'JSON as such, anything else as text; null for none' } as const
const cut = { ...count, description: 'The size of the whole body, where its beginning is kept' }
const answer = {
  type: 'object',
  required: ['headers', 'body'],
  properties: { headers, body: anyJson, body_cut: cut },
} as const

export const recordedRequests = object('Requests', {
  results: {
    type: 'array',
    items: object(
      'Request',
      {
        request_id: identifier,
        at: { ...timestamp, description: "The account's time at which it began" },
        machine_at: { ...timestamp, description: 'The machine’s time at which it began' },
        operation: { ...text, description: 'An operationId of /openapi.json' },
        method: text,
        path: { ...text, description: 'Without tokens' },
        query: text,
        kind: { type: 'string', enum: ['api', 'page'] },
        payment_id: nullable,
        reference: nullable,
        headers,
        body: anyJson,
        status: { type: ['integer', 'null'], description: 'null without a response' },
        code: { ...nullable, description: 'Of an error' },
        ms: { type: 'number', description: 'Milliseconds until the response' },
        plan: { ...nullable, description: 'The plan that acted on it' },
        answered: { type: 'string', enum: ['sent', 'gone', 'replaced', 'reset'] },
        answer,
      },
      { body_cut: cut },
    ),
  },
  next: { ...nullable, description: 'For `after`' },
})

export const messages = object('Messages', {
  results: {
    type: 'array',
    items: object('Message', {
      message_id: identifier,
      webhook_id: identifier,
      event_type: { type: 'string', enum: eventTypes },
      payment_id: identifier,
      at: timestamp,
      delivery: webhookMessage.properties.last_delivery_status,
      attempts: webhookMessage.properties.attempts,
      raw: { ...nullable, description: 'The exact bytes; null when the payment is gone' },
      headers: { ...headers, type: ['object', 'null'], description: 'With its Pay-Signature' },
    }),
  },
  next: { ...nullable, description: 'For `after`' },
})

export const sendAgain = object(
  'SendAgain',
  {},
  {
    times: { type: 'integer', minimum: 1 },
    at_once: { type: 'boolean', description: 'All at once instead of one by one' },
    body: { ...text, description: 'Another body, which is signed' },
    new_identifier: { type: 'boolean' },
    damage: { type: 'string', enum: damages },
    to: { ...text, description: 'Another address' },
    signing_key: text,
  },
)
export const sentAgain = object('SentAgain', {
  results: {
    type: 'array',
    items: {
      type: 'object',
      required: ['exchange_id', 'status', 'status_code', 'result', 'response_time', 'answer'],
      properties: {
        exchange_id: identifier,
        status: { type: 'string', enum: ['SUCCESSFUL', 'FAILED'] },
        status_code: { type: ['integer', 'null'] },
        result: text,
        response_time: { type: ['integer', 'null'] },
        answer,
      },
    },
  },
})

export const newListener = object(
  'NewListener',
  { name: { ...text, description: 'Has a letter or a digit' } },
  { events: { type: 'array', items: { type: 'string', enum: eventTypes } } },
)
export const listener = object('Listener', {
  webhook_id: identifier,
  signing_key: text,
  other: { type: 'boolean', description: 'Whether another listener with this name is connected' },
})
export const nextAttempt = object('NextAttempt', {
  attempt: {
    type: ['object', 'null'],
    description: 'null if there was none in time',
    required: ['attempt_id', 'message_id', 'headers', 'body'],
    properties: { attempt_id: text, message_id: identifier, headers, body: text },
  },
})
export const attemptResult = object(
  'AttemptResult',
  { attempt_id: text, status_code: { type: ['integer', 'null'] }, result: text },
  {
    response_time: { type: ['integer', 'null'] },
    headers: { type: 'array', items: { type: 'array', items: text }, description: 'Pairs' },
    body: { ...text, description: 'In base64' },
    size: count,
  },
)

export const consoleLink = object('ConsoleLink', {
  url: { type: 'string', format: 'uri' },
  expires: { ...timestamp, description: 'On the machine’s clock' },
})
export const consolePage = object(
  'ConsolePage',
  {},
  { to: { ...text, default: 'payments', description: 'A page below /console' } },
)
