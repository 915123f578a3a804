/**
 * Compares every exchange of the test client with /openapi.json. The document is fetched once in a
 * process, and each schema is compiled when it is first needed.
 */
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { readConfig } from '../../src/app/config.ts'
import { startFarthing } from '../../src/app/start.ts'
import type { Behaviour } from '../../src/core/account.ts'

// The tests of the document check the keys that are read here.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Json = any

export type Exchange = {
  method: string
  /** With its query. */
  path: string
  /** The body of the request if it was text, whatever its Content-Type. */
  sent: string | undefined
  status: number
  headers: Headers
  text: string
}

export type Description = ReturnType<typeof describe>

const fetched = new Map<Behaviour, Promise<Description>>()

/** The document for accounts of this behaviour, which is the same for all services in one process. */
export function descriptionOf(baseUrl: string, behaviour: Behaviour = 'specification') {
  const known =
    fetched.get(behaviour) ??
    (behaviour === 'specification' ? fetchFrom(baseUrl) : fetchOfBehaviour(behaviour))
  fetched.set(behaviour, known)
  known.catch(() => fetched.delete(behaviour))
  return known
}

async function fetchFrom(url: string): Promise<Description> {
  const response = await fetch(`${url}/openapi.json`)
  assert.equal(response.status, 200, 'GET /openapi.json; npm run check says what is wrong')
  return describe(await response.json())
}

/** The document of a service is that of the behaviour in its settings. */
async function fetchOfBehaviour(behaviour: Behaviour): Promise<Description> {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', FARTHING_BEHAVIOUR: behaviour }
  const service = await startFarthing({ config: readConfig(env), backgroundWork: false })
  return fetchFrom(service.url).finally(() => service.close())
}

const controls = new Map<string, Description>()

/** undefined if the service has no control API. */
export async function controlDescriptionOf(baseUrl: string): Promise<Description | undefined> {
  const response = await fetch(`${baseUrl}/control/openapi.json`)
  if (response.status !== 200) return undefined
  const document: Json = await response.json()
  // A service describes only the features that are on.
  const key = Object.keys(document.paths).join()
  const known = controls.get(key) ?? describe(document)
  controls.set(key, known)
  return known
}

export function describe(document: Json) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema(document, 'described')
  ajv.addSchema(closed(document), 'closed')
  const compiled = new Map<string, ValidateFunction>()

  /** Fails unless the schema at these keys of the document allows `value`. */
  function conform(root: 'described' | 'closed', keys: string[], value: unknown, what: string) {
    const pointer = keys.map(key => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const reference = `${root}#/${encodeURI(pointer)}`
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference })
    compiled.set(reference, validate)
    const problems = () => ajv.errorsText(validate.errors, { dataVar: 'body', separator: '\n  ' })
    assert.ok(validate(value), `${what} is not as /openapi.json says:\n  ${problems()}`)
  }

  function checkBody(keys: string[], answer: Json, exchange: Exchange, what: string): void {
    const { headers, text } = exchange
    const type = headers.get('content-type')
    assert.ok(answer.content || text === '', `${what} has a body`)
    if (!answer.content || exchange.method === 'HEAD') return
    const media = (type ?? '').replace(/^(text\/\w+);.*/, '$1') // JSON has no charset, as at GOV.UK Pay
    const offered = Object.keys(answer.content)
    assert.ok(offered.includes(media), `${what} has the type ${type}, not ${offered.join(' or ')}`)
    const value = media === 'application/json' ? JSON.parse(text) : text
    conform('closed', [...keys, 'content', media, 'schema'], value, what)
  }

  /** Throws an AssertionError that says where the exchange differs from the document. */
  function check(exchange: Exchange): void {
    const { method, path, status, headers } = exchange
    const what = `the answer ${status} to ${method} ${path}`
    const keys = keysOfAnswer(document, exchange)
    assert.ok(keys, `/openapi.json does not describe ${what}:\n${exchange.text.slice(0, 500)}`)
    const answer = at(document, keys)
    for (const [name, { required }] of Object.entries<Json>(answer.headers ?? {})) {
      const value = headers.get(name)
      assert.ok(value !== null || !required, `${what} has no header ${name}`)
      if (value !== null)
        conform('closed', [...keys, 'headers', name, 'schema'], value, `${name} of ${what}`)
    }
    assert.equal(headers.get('x-content-type-options'), 'nosniff', what)
    if (/^\/v1(\/|$)/.test(path)) {
      assert.equal(headers.get('cache-control'), 'no-store', what)
      assert.equal(headers.get('pragma'), 'no-cache', what)
      for (const name of headers.keys()) assert.doesNotMatch(name, /^access-control/, what)
      assert.ok(answer.headers?.Location || !headers.has('location'), `${what} has a Location`)
    }
    checkBody(keys, answer, exchange, what)
    if (exchange.sent !== undefined && status < 300) checkSent(exchange)
  }

  /** The document must allow every request body that the service accepts. */
  function checkSent({ method, path, sent = '' }: Exchange): void {
    const found = find(document, path)
    const keys = ['paths', found ?? '', method.toLowerCase(), 'requestBody', 'content']
    const content = found && at(document, keys)
    const text = sent.replace(/^\uFEFF/, '')
    if (!content?.['application/json'] || !/^\s*\{/.test(text)) return
    const schema = [...keys, 'application/json', 'schema']
    const body = JSON.parse(text, (_key, value) => (isBlank(value) ? undefined : value))
    conform('described', schema, body, `the body of ${method} ${path}`)
  }

  return { document, check }
}

/** Blank text of any length counts as absent in an accepted request. */
const isBlank = (value: unknown): boolean => typeof value === 'string' && value.trim() === ''

/** The keys of the description of the response: at its own endpoint, or at one for all endpoints. */
function keysOfAnswer(document: Json, { method, path, status, headers }: Exchange) {
  const template = find(document, path)
  const { paths } = document
  const asked = (method === 'HEAD' ? 'GET' : method).toLowerCase()
  if (template && paths[template][asked])
    return resolved(document, ['paths', template, asked, 'responses', `${status}`])
  if (template) {
    const [known = ''] = Object.keys(paths[template]).filter(key => key !== 'servers')
    return ELSEWHERE.wrongMethod.includes(status)
      ? resolved(document, ['paths', template, known, 'responses', `${status}`])
      : undefined
  }
  if (!ELSEWHERE.unknownPath.includes(status)) return undefined
  // A browser gets a page for an unknown path anywhere outside /v1.
  if (!paths['/v1/payments'])
    return resolved(document, ['paths', '/control', 'get', 'responses', `${status}`])
  return /^\/secure(\/|$)/.test(path) || headers.get('content-type')?.startsWith('text/html')
    ? resolved(document, ['paths', '/secure/{token}', 'get', 'responses', `${status}`])
    : resolved(document, ['paths', '/v1/payments', 'post', 'responses', `${status}`])
}

/** The statuses of answers to requests that no endpoint takes. */
const ELSEWHERE = { wrongMethod: [401, 405, 413, 500, 503], unknownPath: [401, 404, 413, 500, 503] }

function resolved(document: Json, keys: string[]): string[] | undefined {
  const answer = at(document, keys)
  return answer?.$ref ? answer.$ref.split('/').slice(1) : answer && keys
}

const at = (document: Json, keys: string[]): Json =>
  keys.reduce((value, key) => value?.[key], document)

/** The path template that matches a request's path. A literal segment goes before a parameter. */
function find(document: Json, path: string): string | undefined {
  const segments = segmentsOf(path)
  if (!segments) return undefined
  const fits = (template: string) => {
    const parts = template.split('/')
    return (
      parts.length === segments.length &&
      parts.every((part, n) => part.startsWith('{') || part === segments[n])
    )
  }
  const templates = Object.keys(document.paths).filter(fits)
  return templates.sort((a, b) => a.split('{').length - b.split('{').length)[0]
}

/**
 * The decoded segments of a path or URL, without one slash at the end. Returns undefined when it cannot be
 * decoded or has an empty segment.
 */
function segmentsOf(path: string): string[] | undefined {
  const [plain = ''] = path.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)
  if (plain.includes('//')) return undefined
  try {
    return plain
      .replace(/(?<=.)\/$/, '')
      .split('/')
      .map(decodeURIComponent)
  } catch {
    return undefined
  }
}

/**
 * The document with schemas that allow no other keys. Clients must ignore unknown keys, but in these tests
 * an unknown key is a mistake in the answer or in the document.
 */
function closed(value: Json, isPart = false): Json {
  if (Array.isArray(value)) return value.map(inner => closed(inner))
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(
    Object.entries<Json>(value).map(([key, inner]) => [
      key,
      key === 'allOf' ? inner.map((part: Json) => closed(part, true)) : closed(inner),
    ]),
  )
  const isSchema = typeof copy.properties === 'object' || Array.isArray(copy.allOf)
  const isOpen = 'additionalProperties' in copy
  return isSchema && !isOpen && !isPart ? { ...copy, unevaluatedProperties: false } : copy
}
