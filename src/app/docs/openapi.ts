/** Collects one OpenAPI 3.1 document from the endpoints that are registered. */
import type { Behaviour } from '../../core/account.ts'
import { controlMeanings, meanings } from '../../core/codes.ts'
import * as catalogue from '../../core/errors.ts'
import { version } from '../../core/version.ts'
import { takenAccept } from '../../pay/differences/arriving.ts'
import { lostError } from '../../pay/differences/errors.ts'
import { paymentIn } from '../../pay/payments/response.ts'
import { exampleAddresses } from '../../platform/http/addresses.ts'
import type { AreaName } from '../../platform/http/areas.ts'
import type { Endpoint } from '../../platform/http/endpoint.ts'
import {
  type Docs,
  errorHeaders,
  errorResponse,
  html,
  type Schema,
} from '../../platform/http/openapi.ts'
import { errorBody } from '../../platform/http/schema.ts'
import { withExamples } from './examples.ts'
import { chapterTexts, controlIntroduction, introductionFor } from './introduction.ts'
import { messageDocs } from './message-docs.ts'

/** Endpoints by their chapter of the documentation, in its order. */
export type Chapters = Readonly<Record<keyof typeof chapterTexts, readonly Endpoint[]>>

/** The document for accounts of this behaviour. Its sender replaces `exampleAddresses` by the reader's addresses. */
export const openapi = (chapters: Chapters, behaviour: Behaviour) =>
  collect({
    chapters,
    behaviour,
    info: {
      title: 'Farthing',
      summary: 'A payment service that moves no money',
      description: introductionFor(behaviour),
    },
    texts: chapterTexts,
    meanings,
    errorBody,
    webhooks: {
      message: { post: withExamples(messageDocs(paymentIn[behaviour], behaviour), behaviour) },
    },
  })

export const controlOpenapi = (endpoints: readonly Endpoint[]) =>
  collect({
    chapters: { Control: endpoints },
    behaviour: 'specification',
    info: {
      title: 'Farthing control',
      summary: 'What tests do beside the API',
      description: controlIntroduction,
    },
    texts: { Control: 'Everything below `/control`. `/openapi.json` describes payments.' },
    meanings: controlMeanings,
    errorBody: {
      ...errorBody,
      properties: {
        ...errorBody.properties,
        code: { type: 'string', enum: [...Object.keys(meanings), ...Object.keys(controlMeanings)] },
      },
    },
  })

type Collected = {
  chapters: Readonly<Record<string, readonly Endpoint[]>>
  behaviour: Behaviour
  info: { title: string; summary: string; description: string }
  /** The descriptions of the chapters. */
  texts: Record<string, string>
  /** The meanings of the codes in the table of errors. */
  meanings: Record<string, string>
  errorBody: Schema
  webhooks?: object
}

function collect({ chapters, behaviour, info, texts, meanings, errorBody, webhooks }: Collected) {
  const described = Object.entries(chapters)
    .flatMap(([tag, endpoints]) => endpoints.map(endpoint => ({ ...endpoint, tag })))
    .filter(({ existsIn }) => existsIn?.[behaviour] !== false)
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { tag, ...endpoint } of described) {
    // A browser may see the pages at another address than clients see the API.
    const servers = endpoint.area === 'pages' && { servers: [PAGE_SERVER] }
    const operation = operationOf(tag, endpoint, behaviour, errorBody)
    const methods = paths[endpoint.path] ?? { ...servers }
    paths[endpoint.path] = { ...methods, [endpoint.method.toLowerCase()]: operation }
  }
  const names = new Set<string>(described.flatMap(({ area }) => errorsOf[area]))
  const shared = Object.entries(sharedErrors).filter(([name]) => names.has(name))
  const own = described.flatMap(({ docs }) => docs(behaviour).errors ?? [])
  const errors = [...own, ...shared.map(([, make]) => make())]
  return shareSchemas({
    openapi: '3.1.0',
    info: { ...info, version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: exampleAddresses.api, description: 'This service' }],
    tags: Object.entries({ ...texts, Errors: errorTable(meanings, errors) }).map(
      ([name, description]) => ({ name, description }),
    ),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, as farthing keys create prints it',
        },
      },
      responses: Object.fromEntries(
        shared.map(([name, make]) => [name, errorResponse([make()], errorBody)]),
      ),
    },
  })
}

const PAGE_SERVER = { url: exampleAddresses.pages, description: 'The hosted pages' }

/** Errors that many endpoints have in common, by their names among the document's components. */
const sharedErrors = {
  Unauthorised: catalogue.missingBearerKey,
  NoSuchEndpoint: () => catalogue.noSuchEndpoint(),
  MethodNotAllowed: () => catalogue.methodNotAllowed('PUT', 'GET, HEAD'),
  BodyTooLarge: catalogue.bodyTooLarge,
  TooManyRequests: catalogue.tooManyRequests,
  UnexpectedFault: catalogue.unexpectedFault,
  Overloaded: catalogue.overloaded,
} satisfies Record<string, () => catalogue.ApiError>

type SharedError = keyof typeof sharedErrors

/** The errors that a behaviour adds to every endpoint of `api` and `token`. Other areas have none of them. */
const ofBehaviour = (behaviour: Behaviour): catalogue.ApiError[] => {
  const lost = [catalogue.noSuchEndpoint(), sharedErrors.MethodNotAllowed()].map(
    lostError[behaviour],
  )
  const blocked = takenAccept[behaviour]('text/plain')
    ? []
    : [catalogue.blocked('must accept application/json')]
  return [...lost.filter(error => error instanceof catalogue.PlainError), ...blocked]
}

const ofEveryEndpoint: SharedError[] = ['MethodNotAllowed', 'UnexpectedFault']
const open: SharedError[] = [...ofEveryEndpoint, 'Overloaded']
const token: SharedError[] = [...open, 'NoSuchEndpoint', 'BodyTooLarge', 'TooManyRequests']

/** The errors that every endpoint of an area may return. */
const errorsOf: Record<AreaName, SharedError[]> = {
  api: [...token, 'Unauthorised'],
  token,
  pages: [],
  control: [...open, 'NoSuchEndpoint', 'BodyTooLarge', 'Unauthorised'],
  console: [],
  'sign-in': [],
  open,
  health: ofEveryEndpoint,
}

/** Errors of the hosted pages are pages too. */
const pageErrors: Docs['responses'] = {
  404: html('No web payment of the last 7 days has this token'),
  405: { ...html('The page has no such method'), headers: errorHeaders[405] },
  500: html('A fault of the service'),
  503: { ...html('Too many requests at once'), headers: errorHeaders[503] },
}

function operationOf(
  tag: string,
  { method, area, operationId, summary, docs }: Endpoint,
  behaviour: Behaviour,
  errorBody: Schema,
) {
  const {
    responses,
    errors = [],
    ...rest
  } = withExamples({ operationId, ...docs(behaviour) }, behaviour)
  const byBehaviour = area === 'api' || area === 'token' ? ofBehaviour(behaviour) : []
  const all = [...errors, ...byBehaviour]
  const others = area === 'pages' ? pageErrors : errorResponses({ method, area }, all, errorBody)
  return {
    tags: [tag],
    summary,
    ...rest,
    security: area === 'api' || area === 'control' ? [{ bearer: [] }] : [],
    responses: { ...others, ...responses },
  }
}

function errorResponses(
  { method, area }: Pick<Endpoint, 'method' | 'area'>,
  errors: catalogue.ApiError[],
  errorBody: Schema,
): Docs['responses'] {
  const own = Map.groupBy(errors, error => error.status)
  const all: Docs['responses'] = {}
  for (const name of errorsOf[area]) {
    // No GET reads its body.
    if (name === 'BodyTooLarge' && method === 'GET') continue
    const error = sharedErrors[name]()
    const group = own.get(error.status)
    if (isReplaced(error, group)) continue
    if (group) group.push(error)
    else all[error.status] = { $ref: `#/components/responses/${name}` }
  }
  for (const [status, group] of own) all[status] = errorResponse(group, errorBody)
  return all
}

/** Whether an error without a code replaces it here. A fault of the service has its code everywhere. */
const isReplaced = (error: catalogue.ApiError, own: catalogue.ApiError[] = []): boolean =>
  error.status < 500 && own.some(({ code }) => code === error.code)

/** A table of all error codes, with their statuses and their meanings. */
function errorTable(meanings: Record<string, string>, errors: catalogue.ApiError[]): string {
  const byCode = Map.groupBy(errors, ({ code }): string => code)
  const rows = Object.entries(meanings).map(([code, meaning]) => {
    const statuses = new Set(byCode.get(code)?.map(({ status }) => status))
    return `| \`${code}\` | ${[...statuses].sort().join(', ') || 'none'} | ${meaning} |`
  })
  return ['| Code | Status | Meaning |', '|---|---|---|', ...rows].join('\n')
}

/** Moves each schema with a title to the components. Descriptions stay. Throws when two schemas share a title. */
function shareSchemas<Document extends { components: object }>(document: Document) {
  const schemas: Record<string, Schema> = {}
  const texts = new Map<string, string>()

  /** Looks everywhere except in examples, which may have any keys. */
  function place(value: unknown, key = '', isInSchema = false): unknown {
    if (typeof value !== 'object' || value === null || (key === 'value' && !isInSchema))
      return value
    if (Array.isArray(value)) return value.map(item => place(item, '', isInSchema))
    const isSchema = isInSchema || key === 'schema'
    const placeEach = (object: object) =>
      Object.fromEntries(
        Object.entries(object).map(([name, inner]) => [name, place(inner, name, isSchema)]),
      )
    const { description, ...rest } = value as Record<string, unknown> // a JSON object
    const { title } = rest
    if (!isSchema || typeof title !== 'string') return placeEach(value)
    const text = JSON.stringify(rest)
    if (texts.get(title) === undefined) {
      texts.set(title, text)
      schemas[title] = placeEach(rest)
    } else if (texts.get(title) !== text) throw new Error(`two schemas have the title ${title}`)
    return {
      $ref: `#/components/schemas/${title}`,
      ...(description !== undefined && { description }),
    }
  }

  const placed = place(document) as Document // only schemas were replaced
  return { ...placed, components: { ...placed.components, schemas } }
}
