import { iso } from '../../core/time.ts'
import { integer, oneOf, parsedJson } from '../../core/values.ts'
import { LONGEST_COMMIT } from '../../platform/database/follow.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import { parameter } from '../../platform/http/query.ts'
import { object, timestamp } from '../../platform/http/schema.ts'
import { WITHOUT_ENDPOINT } from '../../platform/http/without-endpoint.ts'
import { violationsOf } from '../explain/check/production.ts'
import type { Exchange, KeptBody } from '../record/exchange.ts'
import { countExchanges, followExchanges } from '../record/store.ts'
import { badField } from '../steer/errors.ts'
import { answer, anyJson, cut, headers, identifier, nullable, text } from '../steer/schemas.ts'
import { type ControlContext, defineEndpoint } from './endpoint.ts'
import { ends, flag, followed, paging, payment_id, reference, since } from './query.ts'
import { tooManyWaits } from './wait.ts'

const kinds = ['api', 'page'] as const

export const recordedRequest = object(
  'Request',
  {
    request_id: identifier,
    at: { ...timestamp, description: "The account's time at which it began" },
    machine_at: { ...timestamp, description: 'The machine’s time at which it began' },
    operation: { ...text, description: 'An operationId of /openapi.json' },
    method: text,
    path: { ...text, description: 'Without tokens' },
    query: text,
    kind: { ...text, enum: kinds, description: '`page`: of a hosted page' },
    payment_id: nullable,
    reference: nullable,
    headers,
    body: anyJson,
    status: { type: ['integer', 'null'], description: 'null without a response' },
    code: { ...nullable, description: 'Of an error' },
    ms: { type: 'number', description: 'Milliseconds until the response' },
    plan: { ...nullable, description: 'The plan that acted on it' },
    from_farthing: {
      type: 'boolean',
      description: 'A command of Farthing sent it: the check leaves it out',
    },
    answered: {
      ...text,
      enum: ['sent', 'gone', 'replaced', 'reset'],
      description: '`gone`: the client had left. `replaced` and `reset`: a plan did so',
    },
    answer,
    in_production: {
      type: 'array',
      description: 'What GOV.UK Pay would do differently with this request',
      items: object('Difference', {
        rule: { ...text, description: 'Such as P4' },
        level: { ...text, enum: ['fail', 'warn', 'note'] },
        title: text,
        sentence: text,
        advice: text,
      }),
    },
  },
  { body_cut: cut },
)

const results = { type: 'array', items: recordedRequest } as const

export const listRequests = (context: ControlContext): Endpoint =>
  defineEndpoint({
    route: 'GET /control/requests',
    operationId: 'listRequests',
    summary: 'List the requests of the account',
    query: {
      operation: parameter(
        oneOf([
          ...context.operations.map(({ operationId }) => operationId),
          ...WITHOUT_ENDPOINT.map(({ operation }) => operation),
        ]),
        'With this operationId',
      ),
      payment_id,
      reference,
      status: parameter(integer(100, 599), 'With this status'),
      refused: flag('true: with a status of 400 or more, or a reset'),
      since: since('That began at this time of the machine’s clock or later'),
      ...paging,
    },
    description:
      'What the application and browsers asked, oldest first. With `after` or `since` it begins there, otherwise it ends with the newest. A client that follows with `next` misses none, and may get one again.',
    response: [200, 'The requests', object('Requests', { results, ...ends })],
    errors: () => [badField('status', 'must be a whole number'), tooManyWaits()],
    handler: ({ database, recorder, time, ...context }, asked) =>
      followed(context, asked, async (account, paging, filter) => {
        const { room, parent } = account
        const wanted = { ...filter, kinds }
        // Only for test accounts: for others this would be a commit after each request.
        const written = async () => parent !== null && (await recorder?.write(account))
        await written()
        const recordedSince = time.wall() - LONGEST_COMMIT
        const count = () => countExchanges(database, room, { ...wanted, recordedSince })
        const before = await count()
        const page = await followExchanges(database, room, wanted, paging)
        return {
          ...page,
          rows: page.rows.map(presentRequest),
          async isNewer() {
            await written()
            return (await count()) !== before
          },
        }
      }),
  })(context)

function presentRequest(exchange: Exchange) {
  const { exchange_id, operation, method, path, query, kind, payment_id, status, ms } = exchange
  return {
    request_id: exchange_id,
    at: iso(exchange.at),
    machine_at: iso(exchange.began),
    operation,
    method,
    path,
    query,
    kind,
    payment_id,
    reference: exchange.reference ?? null,
    headers: exchange.request_headers,
    ...presentBody(exchange.request_body),
    status,
    code: exchange.code ?? null,
    ms,
    plan: exchange.plan ?? null,
    from_farthing: exchange.facts?.own === true,
    answered: exchange.ended,
    answer: { headers: exchange.response_headers, ...presentBody(exchange.response_body) },
    in_production: violationsOf(exchange.facts?.broken),
  }
}

export function presentBody(recorded: KeptBody | undefined): { body: unknown; body_cut?: number } {
  if (!recorded) return { body: null }
  const { text, cut, base64 } = recorded
  if (cut !== undefined) return { body: text, body_cut: cut }
  const json = base64 ? undefined : parsedJson(text)
  return { body: json === undefined ? text : json }
}
