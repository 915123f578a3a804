/** The descriptions and examples of /control/openapi.json by operationId. Loaded when somebody reads it. */
import {
  fieldCodes,
  invalid,
  missing,
  notAllowed,
  notAnObject,
  outsideLimit,
  paymentNotFound,
  unknownAgreement,
  unknownOneTimeToken,
  unknownSetUpAgreement,
  usedOneTimeToken,
  wrongMediaType,
} from '../errors.ts'
import { JSON_TYPE } from '../http/body.ts'
import {
  type Docs,
  json,
  noContent,
  pathParameter,
  type RequestBody,
  requestBody,
  type Schema,
} from '../http/openapi.ts'
import { payments } from '../payments/examples.ts'
import { payment } from '../payments/response.ts'
import {
  badField,
  conflict,
  missingField,
  noSuchField,
  notFound,
  tooMany,
  wrongKey,
} from './errors.ts'
import * as examples from './examples.ts'
import * as schemas from './schemas.ts'

/** `query` describes the query parameters. */
type Description = Docs & { query?: Record<string, string> }

const optional = (schema: Schema, values: Record<string, unknown>): RequestBody => ({
  ...requestBody(schema, values),
  required: false,
})

const noBody = [notAnObject('C0197'), wrongMediaType(400, JSON_TYPE)]
const unknownField = noSuchField('nam', ['name', 'at', 'frozen'])
const unknownParameter = noSuchField('refrence', ['reference', 'status', 'wait'])
const parent = wrongKey('tests.06gq1n36', 'tests')
const accountEnded = conflict('the account has ended')
const badTime = badField('at', 'must be a time from 2001 to 2099 such as 2026-09-14T08:20:31.000Z')
const waits = tooMany('at most 50 requests of an account wait at once')
const ofPayment = pathParameter('payment_id', 'A payment of the account', payments.paid.payment_id)
const ofWebhook = pathParameter('webhook_id', 'A listener of the account', examples.ID)

const accounts: Record<string, Description> = {
  readControl: {
    responses: {
      200: json('What there is', schemas.overview, { 'With everything on': examples.overview }),
    },
    errors: [unknownParameter],
  },
  createAccount: {
    description:
      'Every field is optional, and so is the body. The account ends after 7 days of machine time.',
    requestBody: optional(schemas.newAccount, {
      'The usual call': {},
      'It begins in the past, and its clock stands still': { at: '2026-03-29T00:59:58Z' },
    }),
    responses: {
      201: json('The account', schemas.madeAccount, { 'A test account': examples.madeAccount }),
    },
    errors: [
      ...[...noBody, parent, unknownField, badTime],
      conflict('the name checkout was used within the last 7 days'),
      tooMany('an account has at most 10000 test accounts: end some'),
    ],
  },
  listAccounts: {
    responses: { 200: json('The living ones', schemas.accounts, { One: examples.accounts }) },
    errors: [parent, unknownParameter],
  },
  endAccount: {
    description: 'Its keys stop at once and its links are unknown. To end it twice is no error.',
    parameters: [pathParameter('account', 'A test account of the account', 'tests.06gq1n36')],
    responses: { 204: noContent('It has ended, and nothing of it is being sent') },
    errors: [parent, notFound('test account')],
  },
  resetAccount: {
    description:
      'The account moves to an empty room, and its keys stay. A request that began before ends in the old room.',
    requestBody: optional(schemas.beginning, { 'The usual call': {} }),
    responses: { 200: json('The empty account', schemas.overview, { Empty: examples.overview }) },
    errors: [...noBody, unknownField, badTime, accountEnded],
  },
  readClock: {
    responses: { 200: json('The clock', schemas.clock, { 'It stands still': examples.clock }) },
  },
  setClock: {
    description: 'Exactly one of the fields. Time goes forward only.',
    requestBody: requestBody(schemas.clockMove, {
      '7 days forward': { advance: 604_800_000 },
      'Stand still': { freeze: true },
      'Run on': { resume: true },
    }),
    responses: { 200: json('The clock', schemas.clock, { 'It stands still': examples.clock }) },
    errors: [
      ...noBody,
      badField('advance', 'must be whole milliseconds'),
      unknownField,
      conflict('time moves forward only, and it is 2026-03-29T00:59:58.000Z'),
    ],
  },
}

const codes = fieldCodes.payment
const outcomes: Record<string, Description> = {
  buildPayment: {
    description:
      'Takes every field of a new payment, each with a default, and then the steps in this order: scenario, capture, refund, cancel. Webhooks are sent as usual. It consumes no plan.',
    requestBody: optional(schemas.builtPayment, {
      'Paid and partly refunded': { scenario: 'success', refund: 500 },
      'Just created': {},
    }),
    responses: { 201: json('The payment', payment, { Paid: payments.partlyRefunded }) },
    errors: [
      ...[...noBody, badField('capture', 'needs delayed_capture and the scenario success')],
      ...[missing(codes, 'return_url'), invalid(codes, 'moto', 'must be true or false')],
      ...[unknownAgreement(), unknownSetUpAgreement(), notAllowed('moto', 'in this mode')],
      ...[outsideLimit(codes, 'amount', 'must be at most 10000000'), unknownField],
      conflict('another request ended the payment meanwhile: read it'),
    ],
  },
  completePayment: {
    description:
      'Does what a user does on the hosted pages; a moto_api payment is completed by a test card. The response waits for the webhooks, and is that of GET /v1/payments/{payment_id}.',
    parameters: [ofPayment],
    requestBody: optional(schemas.outcome, { 'The card is declined': { scenario: 'declined' } }),
    responses: { 200: json('The payment', payment, { Declined: payments.declined }) },
    errors: [
      ...[...noBody, paymentNotFound('P0200'), unknownOneTimeToken(), usedOneTimeToken()],
      ...[badField('scenario', 'must be one of success, declined'), unknownField],
      conflict('the payment is success and cannot be completed again'),
    ],
  },
  findPayments: {
    description: 'At most 100, newest first. With `wait` the response is held until one matches.',
    query: {
      payment_id: 'This payment',
      reference: 'With this reference, in any case',
      status: 'That have been in this status; `refunded` once something was refunded',
    },
    responses: {
      200: json(
        'The payments',
        {
          type: 'object',
          required: ['results'],
          properties: { results: { type: 'array', maxItems: 100, items: payment } },
        },
        {
          One: { results: [payments.paid] },
          None: { results: [] },
        },
      ),
    },
    errors: [unknownParameter, badField('wait', 'must be a whole number from 0 to 10000'), waits],
  },
  createPlan: {
    description: 'Either a scenario or a fault. A plan acts once, unless it says otherwise.',
    requestBody: requestBody(schemas.newPlan, examples.newPlans),
    responses: {
      201: json('The plan, with its defaults', schemas.plan, { 'A scenario': examples.plan }),
    },
    errors: [
      ...[...noBody, missingField('scenario', 'is required, or one of answer, reset and delay')],
      ...[badField('times', 'must be a whole number from 1 to 1000000'), unknownField],
      ...[notFound('payment'), tooMany('an account has at most 100 plans: delete some')],
    ],
  },
  listPlans: {
    responses: { 200: json('The plans', schemas.plans, { One: { results: [examples.plan] } }) },
    errors: [unknownParameter],
  },
  deletePlans: { responses: { 204: noContent('There are none any more') } },
  deletePlan: {
    parameters: [pathParameter('plan_id', 'A plan of the account', examples.ID)],
    responses: { 204: noContent('It is deleted') },
    errors: [notFound('plan')],
  },
}

const reading: Record<string, Description> = {
  listRequests: {
    description:
      'What the application and browsers asked, oldest first. With `after` or `since` it begins there, otherwise it ends with the newest.',
    query: {
      operation: 'With this operationId',
      status: 'With this status',
      refused: 'true: with a status of 400 or more, or a reset',
      since: 'That began at this time or later',
    },
    responses: { 200: json('The requests', schemas.recordedRequests, { One: examples.requests }) },
    errors: [unknownParameter, badField('status', 'must be a whole number'), waits],
  },
  listMessages: {
    description: 'Messages of all webhooks, oldest first.',
    query: {
      message_id: 'This message',
      event_type: 'Of this event type',
      delivery: 'With this delivery status',
    },
    responses: { 200: json('The messages', schemas.messages, { One: examples.messages }) },
    errors: [unknownParameter, badField('delivery', 'must be one of PENDING, SUCCESSFUL'), waits],
  },
  sendMessage: {
    description: 'Sends the kept bytes once more, or changed on purpose.',
    parameters: [pathParameter('message_id', 'A message of the account', examples.ID)],
    requestBody: optional(schemas.sendAgain, {
      'As it was': {},
      'Twice at once': { times: 2, at_once: true },
    }),
    responses: { 200: json('What came back', schemas.sentAgain, { Taken: examples.sentAgain }) },
    errors: [
      ...[
        ...noBody,
        notFound('message'),
        badField('times', 'must be a whole number'),
        unknownField,
      ],
      conflict('the webhook of this message is INACTIVE: register another one'),
    ],
  },
  startListening: {
    requestBody: requestBody(schemas.newListener, { 'All events': { name: 'laptop' } }),
    responses: { 200: json('The listener', schemas.listener, { New: examples.listener }) },
    errors: [
      ...[...noBody, badField('name', 'must be text with a letter or a digit'), unknownField],
      tooMany('an account has at most 100 active webhooks: delete some'),
    ],
  },
  takeNextAttempt: {
    parameters: [ofWebhook],
    query: { wait: 'Milliseconds to wait for an attempt' },
    responses: { 200: json('The attempt', schemas.nextAttempt, { None: { attempt: null } }) },
    errors: [notFound('listener'), unknownParameter],
  },
  giveAttemptResult: {
    parameters: [ofWebhook],
    requestBody: requestBody(schemas.attemptResult, {
      Taken: { attempt_id: examples.ID, status_code: 200, response_time: 12, result: '200 OK' },
    }),
    responses: { 204: noContent('The attempt has this result') },
    errors: [...noBody, notFound('listener'), badField('result', 'must be text'), unknownField],
  },
  stopListening: {
    parameters: [ofWebhook],
    responses: { 204: noContent('Nobody listens any more') },
    errors: [notFound('listener')],
  },
  enterConsole: {
    description: 'The link works for a minute of machine time.',
    requestBody: optional(schemas.consolePage, { 'The list of payments': {} }),
    responses: {
      200: json('The link', schemas.consoleLink, { 'To the payments': examples.consoleLink }),
    },
    errors: [
      ...noBody,
      badField('to', 'must be a page of the console, such as payments'),
      unknownField,
    ],
  },
}

export const descriptions: Readonly<Record<string, Description>> = {
  ...accounts,
  ...outcomes,
  ...reading,
}
