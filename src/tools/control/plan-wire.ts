/** Reads plans from requests and prints them in responses. */
import { PLAN_BYTES, PLANS } from '../../core/budgets.ts'
import { type Code, isPlanned, meanings, onlyByPlan } from '../../core/codes.ts'
import { ApiError } from '../../core/errors.ts'
import {
  type AppliedScenario,
  type AuthorisationMode,
  authorisationModes,
  choices,
} from '../../pay/payments/payment.ts'
import { refundScenarios } from '../../pay/payments/refund.ts'
import { newPayment, readNewPayment } from '../../pay/payments/request.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { isObject, type Json } from '../../platform/http/fields.ts'
import { object } from '../../platform/http/schema.ts'
import {
  asksForPayment,
  CREATION,
  fieldsOf,
  ownErrors,
  type Plan,
  type PlannedAnswer,
  REFUND,
} from '../plans/plan.ts'
import { choiceIn, integerIn, isWhole, textIn, trueIn } from './body.ts'
import { badField, missingField, noSuchField } from './errors.ts'
import { plannedFields, readWanted } from './scenario-wire.ts'
import { count, identifier, text } from './schemas.ts'

/** Milliseconds. */
const LONGEST_DELAY = 60_000
const MOST_REQUESTS = 1_000_000

const whichFields = {
  on: { ...text, description: 'An operationId of /openapi.json; absent for any' },
  given: {
    type: 'object',
    additionalProperties: true,
    description: 'Fields with which the payment must have been created; of metadata, these keys',
  },
  payment_id: identifier,
} as const
const oftenFields = {
  skip: { ...count, default: 0, description: 'The number of matching requests that pass first' },
  times: {
    anyOf: [{ type: 'integer', minimum: 1 }, { const: 'always' }],
    default: 1,
    description: 'The number of times that it then acts',
  },
  probability: { type: 'number', minimum: 0, maximum: 1, default: 1 },
  seed: { ...count, default: 0, description: 'Of the draw' },
} as const
const faultFields = {
  when: { type: 'string', enum: ['before', 'after'], default: 'before' },
  delay: {
    anyOf: [
      { type: 'integer', minimum: 0, maximum: LONGEST_DELAY },
      { type: 'array', minItems: 2, maxItems: 2, items: { type: 'integer' } },
    ],
    description: 'Milliseconds, or the least and the most',
  },
  answer: {
    type: 'object',
    properties: { status: { type: 'integer', minimum: 400, maximum: 599 }, code: text },
    description:
      'An error. 401, 429 and 503 have a code of their own; a 500 without one has that of its operation. A code that only plans answer with has its status',
  },
  reset: { const: true, description: 'A TCP reset in place of a response' },
} as const
const effectFields = { ...plannedFields, ...faultFields }

export const newPlan = object('NewPlan', {}, { ...whichFields, ...oftenFields, ...effectFields })
export const plan = object(
  'Plan',
  {
    plan_id: identifier,
    ...oftenFields,
    seen: { ...count, description: 'The number of requests that matched' },
    acted: { ...count, description: 'The number of times that it acted' },
  },
  {
    ...whichFields,
    ...effectFields,
    note: { ...text, description: 'Why it did not act on the last payment that it should have' },
  },
)
export const plans = object('Plans', {
  results: { type: 'array', maxItems: PLANS, items: plan, description: 'In their order' },
})

const PAYMENT_ID = {
  pattern: new RegExp(identifier.pattern),
  rule: 'must be 26 digits and letters from a to v',
}

type ReadPlan = Omit<Plan, 'plan_id' | 'room' | 'seen' | 'acted'>

/** Reads a plan, with its defaults. `operations` are those that plans may name. Throws the first error. */
export function readPlan(body: Json, operations: readonly Endpoint[]): ReadPlan {
  const which = { ...readOperation(body, operations), ...readGiven(body.given) }
  const payment_id = textIn(body, 'payment_id', PAYMENT_ID)
  const often = {
    skip: integerIn(body, 'skip', 0, MOST_REQUESTS) ?? 0,
    times: readTimes(body),
    probability: readProbability(body.probability),
    seed: integerIn(body, 'seed', 0, Number.MAX_SAFE_INTEGER) ?? 0,
  }
  const effect = hasScenario(body) ? readScenarioPlan(body, which) : readFault(body)
  const plan = { ...which, ...(payment_id !== undefined && { payment_id }), ...often, ...effect }
  checkPayment(plan, operations)
  return plan
}

export function presentPlan({ plan_id, room, seen, acted, ...plan }: Plan) {
  return { plan_id, ...plan, seen, acted }
}

const hasScenario = (body: Json): boolean =>
  ['scenario', 'can_retry', 'hold'].some(name => body[name] !== undefined)

/** The mode of the payments that it can act on, where that is known before they are made. */
function modeOf({ authorisation_mode, ...given }: Json): AuthorisationMode | undefined {
  if (given.agreement_id !== undefined) return 'agreement'
  return authorisationModes.find(mode => mode === authorisation_mode)
}

function readOperation(body: Json, operations: readonly Endpoint[]): { on?: string } {
  const { on } = body
  const names = operations.map(({ operationId }) => operationId)
  if (hasScenario(body)) {
    if (on !== undefined && on !== CREATION && on !== REFUND)
      throw badField('on', `must be ${CREATION} (also if absent) or ${REFUND} with a scenario`)
    return { on: on ?? CREATION }
  }
  const name = choiceIn(body, 'on', names)
  return { ...(name !== undefined && { on: name }) }
}

/** Adds the required fields of a payment, so that the values are checked as those of a payment. */
function readGiven(given: unknown): { given?: Json } {
  if (given === undefined) return {}
  if (!isObject(given)) throw badField('given', 'must be an object with fields of a payment')
  if (Buffer.byteLength(JSON.stringify(given)) > PLAN_BYTES)
    throw badField('given', `must have at most ${PLAN_BYTES} bytes`)
  const names = Object.keys(given)
  const fields = Object.keys(newPayment.properties)
  const unknown = names.find(name => !fields.includes(name))
  if (unknown !== undefined) throw noSuchField(`given.${unknown}`, fields)
  const byAgreement =
    given.authorisation_mode === 'agreement' ||
    'agreement_id' in given ||
    'agreement_payment_type' in given
  const filled = {
    amount: 1,
    reference: '-',
    description: '-',
    ...(byAgreement && { authorisation_mode: 'agreement', agreement_id: '0'.repeat(26) }),
    ...given,
  }
  try {
    const fields = fieldsOf(readNewPayment(filled))
    const absent = names.find(name => fields[name] === undefined)
    if (absent !== undefined) throw badField(absent, 'must have a value')
    return { given: Object.fromEntries(names.map(name => [name, fields[name]])) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(422, 'C0102', `given: ${error.message}`, {
      field: `given.${error.at.field}`,
    })
  }
}

function readTimes({ times = 1 }: Json): number | 'always' {
  if (times === 'always' || isWhole(times, 1, MOST_REQUESTS)) return times
  throw badTimes()
}

export const badTimes = () =>
  badField('times', `must be always or a whole number from 1 to ${MOST_REQUESTS}`)

function readProbability(given: unknown = 1): number {
  if (typeof given === 'number' && given >= 0 && given <= 1) return given
  throw badField('probability', 'must be a number from 0 to 1')
}

function readScenarioPlan(
  body: Json,
  { on, given = {} }: Pick<Plan, 'on' | 'given'>,
): AppliedScenario {
  const fault = Object.keys(faultFields).find(name => body[name] !== undefined)
  if (fault !== undefined)
    throw badField(fault, 'must be absent in a plan with a scenario: make two plans')
  if (on !== REFUND) return readWanted(body, choices, modeOf(given))
  const wanted = readWanted(body, refundScenarios)
  if (wanted.hold) throw badField('hold', `must be absent with ${REFUND}`)
  return wanted
}

export const noEffect = () =>
  missingField('scenario', 'is required, or one of hold, answer, reset and delay')

function readFault(body: Json): Pick<Plan, 'when' | 'delay' | 'answer' | 'reset'> {
  const { when = 'before', delay, answer } = body
  if (delay === undefined && answer === undefined && body.reset === undefined) throw noEffect()
  if (when !== 'before' && when !== 'after') throw badField('when', 'must be before or after')
  const reset = trueIn(body, 'reset')
  if (reset && answer !== undefined)
    throw badField('answer', 'must be absent with reset: no response is sent')
  return {
    when,
    ...(delay !== undefined && { delay: readDelay(delay) }),
    ...(answer !== undefined && { answer: readAnswer(answer) }),
    ...(reset && { reset }),
  }
}

function readDelay(given: unknown): number | [number, number] {
  const isDelay = (value: unknown): value is number => isWhole(value, 0, LONGEST_DELAY)
  if (isDelay(given)) return given
  const [least, most, ...more] = Array.isArray(given) ? given : []
  if (isDelay(least) && isDelay(most) && least <= most && more.length === 0) return [least, most]
  throw badField(
    'delay',
    `must be milliseconds up to ${LONGEST_DELAY}, or a list of the least and the most`,
  )
}

function readAnswer(given: unknown): PlannedAnswer {
  if (!isObject(given)) throw badField('answer', 'must be an object with a status or a code')
  const unknown = Object.keys(given).find(name => name !== 'status' && name !== 'code')
  if (unknown !== undefined) throw noSuchField(`answer.${unknown}`, ['status', 'code'])
  const code = Object.keys(meanings).find(name => name === given.code) as Code | undefined // its keys
  if (given.code !== undefined && code === undefined)
    throw badField('answer.code', 'must be an error code of /openapi.json')
  const ofCode = code && isPlanned(code) ? onlyByPlan[code].status : undefined
  const { status = ofCode } = given
  if (!isWhole(status, 400, 599))
    throw badField('answer.status', 'must be a status from 400 to 599')
  if (ofCode !== undefined && status !== ofCode)
    throw badField('answer.status', `must be ${ofCode} or absent: it is the status of ${code}`)
  const own = ownErrors[status]?.().code
  if (code === undefined && own === undefined)
    throw missingField('answer.code', `is required: ${status} has no code of its own`)
  if (own !== undefined && status !== 500 && code !== undefined && code !== own)
    throw badField('answer.code', `must be ${own} or absent: it is the code of ${status}`)
  return { status, ...(code && { code }) }
}

/** Refuses a plan that could never match. */
function checkPayment(plan: ReadPlan, operations: readonly Endpoint[]): void {
  const { on, payment_id } = plan
  if (on === CREATION && payment_id !== undefined)
    throw badField('payment_id', `must be absent with ${CREATION}: the payment does not exist yet`)
  const endpoint = operations.find(({ operationId }) => operationId === on)
  if (!endpoint || on === CREATION || concernsPayment(endpoint)) return
  if (asksForPayment({ ...plan, plan_id: '', room: '', seen: 0, acted: 0 }))
    throw badField(payment_id === undefined ? 'given' : 'payment_id', `must be absent with ${on}`)
}

const concernsPayment = ({ area, path }: Endpoint): boolean =>
  path.includes('{payment_id}') || area !== 'api'
