/** Reads plans from requests and prints them in responses. */

import type { Behaviour } from '../../core/account.ts'
import { PLAN_BYTES, PLANS } from '../../core/budgets.ts'
import { type Code, isPlanned, meanings, onlyByPlan } from '../../core/codes.ts'
import { ApiError } from '../../core/errors.ts'
import { text as anyText, either, integer, isWhole, oneOf, only } from '../../core/values.ts'
import { authorisationModes } from '../../pay/payments/payment.ts'
import { refundScenarios } from '../../pay/payments/refund.ts'
import { newPayment, readNewPayment } from '../../pay/payments/request.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { isObject, type Json } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'
import {
  asksForPayment,
  CAPTURE,
  CREATION,
  fieldsOf,
  MESSAGE,
  ownErrors,
  type Plan,
  type PlannedAnswer,
  REFUND,
} from '../plans/plan.ts'
import { badField, missingField, noSuchField } from './errors.ts'
import { body, readFields, schemasOf, type Values } from './fields.ts'
import { plannedFields, wantedOf } from './scenario-wire.ts'
import { count, identifier, text } from './schemas.ts'

/** Milliseconds. */
const LONGEST_DELAY = 60_000
const MOST_REQUESTS = 1_000_000

const whichFields = {
  on: anyText({
    description: `An operationId of /openapi.json; absent for any. ${MESSAGE}: the first attempt to deliver a webhook message, which then comes later`,
  }),
  given: {
    schema: {
      type: 'object',
      additionalProperties: true,
      description: 'Fields with which the payment must have been created; of metadata, these keys',
    } as const,
    rule: `an object with fields of a payment, of at most ${PLAN_BYTES} bytes`,
    read: (input: unknown) =>
      isObject(input) && Buffer.byteLength(JSON.stringify(input)) <= PLAN_BYTES
        ? readGiven(input)
        : undefined,
  },
  payment_id: anyText(identifier, '26 digits and letters from a to v'),
}
const oftenFields = {
  skip: integer(0, MOST_REQUESTS, {
    default: 0,
    description: 'The number of matching requests that pass first',
  }),
  times: either(only('always'), integer(1, MOST_REQUESTS), {
    default: 1,
    description: 'The number of times that it then acts',
  }),
}
const codes = Object.keys(meanings) as Code[] // its keys
const answerFields = {
  status: integer(400, 599),
  code: {
    schema: text,
    rule: 'an error code of /openapi.json',
    read: oneOf(codes).read,
  },
}
const faultFields = {
  when: oneOf(['before', 'after'], { default: 'before' }),
  delay: {
    schema: {
      anyOf: [
        { type: 'integer', minimum: 0, maximum: LONGEST_DELAY },
        { type: 'array', minItems: 2, maxItems: 2, items: { type: 'integer' } },
      ],
      description: 'Milliseconds, or the least and the most',
    },
    rule: `milliseconds up to ${LONGEST_DELAY}, or a list of the least and the most`,
    read: readDelay,
  },
  answer: {
    schema: {
      type: 'object',
      properties: schemasOf(answerFields),
      description:
        'An error. 401, 429 and 503 have a code of their own; a 500 without one has that of its operation. A code that only plans answer with has its status',
    } as const,
    rule: 'an object with a status or a code',
    read: (input: unknown) => (isObject(input) ? readAnswer(input) : undefined),
  },
  reset: only(true, { description: 'A TCP reset in place of a response' }),
}
const effectFields = { ...plannedFields, ...faultFields }

export const newPlan = body('NewPlan', { ...whichFields, ...oftenFields, ...effectFields })
export const plan = object(
  'Plan',
  {
    plan_id: identifier,
    ...schemasOf(oftenFields),
    seen: { ...count, description: 'The number of requests that matched' },
    acted: { ...count, description: 'The number of times that it acted' },
  },
  {
    ...schemasOf(whichFields),
    ...schemasOf(effectFields),
    note: { ...text, description: 'Why it did not act on the last payment that it should have' },
  },
)
export const plans = object('Plans', {
  results: { type: 'array', maxItems: PLANS, items: plan, description: 'In their order' },
})

export const noEffect = () =>
  missingField('scenario', 'is required, or one of hold, capture, refund, answer, reset, delay')

export type NewPlan = Values<typeof newPlan.fields.optional>

/** The operations that a plan may name, and the behaviour of the account that makes it. */
type Around = { operations: readonly Endpoint[]; behaviour: Behaviour }

/** A plan, with its defaults. Throws an error for an impossible plan. */
export function readPlan(read: NewPlan, { operations, behaviour }: Around) {
  const { given, payment_id, skip = 0, times = 1 } = read
  const isOfScenario = Object.keys(plannedFields).some(name => name in read)
  const on = read.on ?? (read.refund ? REFUND : isOfScenario ? CREATION : undefined)
  const endpoint = operations.find(({ operationId }) => operationId === on)
  if (on !== undefined && on !== MESSAGE && !endpoint) {
    const names = operations.map(({ operationId }) => operationId)
    throw badField('on', `must be one of ${names.join(', ')}, ${MESSAGE}`)
  }
  const effect = isOfScenario ? scenarioOf(read, on, behaviour) : faultOf(read)
  // A plan that is refused from here on could never match.
  if (on === CREATION && payment_id !== undefined)
    throw badField('payment_id', `must be absent with ${CREATION}: the payment does not exist yet`)
  const concernsPayment =
    on === MESSAGE || endpoint?.area !== 'api' || endpoint.path.includes('{payment_id}')
  if (on !== CREATION && !concernsPayment && asksForPayment(read))
    throw badField(payment_id === undefined ? 'given' : 'payment_id', `must be absent with ${on}`)
  return { on, given, payment_id, skip, times, ...effect }
}

export function presentPlan({ plan_id, room, seen, acted, ...plan }: Plan) {
  return { plan_id, ...plan, seen, acted }
}

/** Adds the required fields of a payment, so that the values are checked as those of a payment. */
function readGiven(fields: Json): Json {
  const names = Object.keys(fields)
  const known = Object.keys(newPayment.properties)
  const unknown = names.find(name => !known.includes(name))
  if (unknown !== undefined) throw noSuchField(`given.${unknown}`, known)
  const byAgreement =
    fields.authorisation_mode === 'agreement' ||
    'agreement_id' in fields ||
    'agreement_payment_type' in fields
  const filled = {
    amount: 1,
    reference: '-',
    description: '-',
    ...(byAgreement && { authorisation_mode: 'agreement', agreement_id: '0'.repeat(26) }),
    ...fields,
  }
  try {
    const fields = fieldsOf(readNewPayment(filled))
    const absent = names.find(name => fields[name] === undefined)
    if (absent !== undefined) throw badField(absent, 'must have a value')
    return Object.fromEntries(names.map(name => [name, fields[name]]))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(422, 'C0102', `given: ${error.message}`, {
      field: `given.${error.at.field}`,
    })
  }
}

/** The fields with which a plan about such requests says how they end. */
const ofRequest: Partial<Record<string, readonly string[]>> = {
  [CREATION]: ['scenario', 'can_retry', 'hold', 'confirm', 'capture'],
  [REFUND]: ['scenario', 'refund'],
  [CAPTURE]: ['capture'],
}

function scenarioOf(
  { given = {}, ...read }: NewPlan,
  on: string | undefined,
  behaviour: Behaviour,
) {
  const fault = Object.keys(faultFields).find(name => name in read)
  if (fault !== undefined)
    throw badField(fault, 'must be absent in a plan with a scenario: make two plans')
  const allowed = ofRequest[on ?? '']
  if (!allowed)
    throw badField('on', `must be ${CREATION} (also if absent) or ${REFUND} with a scenario`)
  const misplaced = Object.keys(plannedFields).find(name => name in read && !allowed.includes(name))
  if (misplaced) throw badField(misplaced, `must be absent with ${on}`)
  if (on === CREATION) {
    // The mode of the payments on which the plan can act, if it is known before they are made.
    const wanted = 'agreement_id' in given ? 'agreement' : given.authorisation_mode
    return wantedOf(
      read,
      behaviour,
      authorisationModes.find(mode => mode === wanted),
    )
  }
  const { scenario = 'success' } = read
  if (!refundScenarios.some(known => known === scenario))
    throw badField('scenario', `must be one of ${refundScenarios.join(', ')}`)
  if (read.refund && read.scenario) throw badField('refund', 'must be absent with a scenario')
  return wantedOf(read, behaviour)
}

function faultOf(read: NewPlan) {
  const { on, when = 'before', delay, answer, reset } = read
  if (on === MESSAGE) {
    const misplaced = ['when', 'answer', 'reset'].find(name => name in read)
    if (misplaced) throw badField(misplaced, `must be absent with ${MESSAGE}`)
    if (delay === undefined) throw missingField('delay', `is required with ${MESSAGE}`)
    return { delay }
  }
  if (delay === undefined && !answer && !reset) throw noEffect()
  if (reset && answer) throw badField('answer', 'must be absent with reset: no response is sent')
  return { when, delay, answer, reset }
}

function readDelay(input: unknown): number | [number, number] | undefined {
  const isDelay = (value: unknown) => isWhole(value, 0, LONGEST_DELAY)
  if (isDelay(input)) return input
  const [least, most, ...more] = Array.isArray(input) ? input : []
  const isRange = isDelay(least) && isDelay(most) && least <= most && more.length === 0
  return isRange ? [least, most] : undefined
}

function readAnswer(input: Json): PlannedAnswer {
  const { code, ...read } = readFields(input, { optional: answerFields }, 'answer.')
  const ofCode = code && isPlanned(code) ? onlyByPlan[code].status : undefined
  const { status = ofCode } = read
  if (status === undefined) throw badField('answer.status', `must be ${answerFields.status.rule}`)
  if (ofCode !== undefined && status !== ofCode)
    throw badField('answer.status', `must be ${ofCode} or absent: it is the status of ${code}`)
  const own = ownErrors[status]?.().code
  if (code === undefined && own === undefined)
    throw missingField('answer.code', `is required: ${status} has no code of its own`)
  if (own !== undefined && status !== 500 && code !== undefined && code !== own)
    throw badField('answer.code', `must be ${own} or absent: it is the code of ${status}`)
  return { status, ...(code && { code }) }
}
