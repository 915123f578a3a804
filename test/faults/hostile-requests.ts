/** Generates requests that are valid HTTP with odd content, from the operations of /openapi.json. */
import { METHODS } from 'node:http'
import { fc, weighted } from '../support/properties.ts'
import {
  damaged,
  nastyJson,
  nastyKey,
  nastyPairs,
  nastyText,
  percentEncoded,
} from './hostile-values.ts'

/** All parts may hold placeholders such as `{payment_id}` and `{key}`. */
export type HostileRequest = {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: Buffer
  chunked: boolean
}

// contract/openapi.test.ts checks the properties that are read here.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Json = any

type Operation = { method: string; path: string; query: string[]; body: Json | undefined }

export function operationsOf(document: Json): Operation[] {
  const resolve = (schema: Json): Json =>
    schema?.$ref ? resolve(document.components.schemas[schema.$ref.split('/').at(-1)]) : schema
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods)
      .filter(([method]) => ['get', 'post', 'delete'].includes(method))
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        query: (operation.parameters ?? [])
          .filter((parameter: Json) => parameter.in === 'query')
          .map((parameter: Json) => parameter.name),
        body: resolve(operation.requestBody?.content?.['application/json']?.schema),
      })),
  )
}

/** Valid values, as JSON, by the name of the field. */
const good: Record<string, string[]> = {
  amount: ['100', '1'],
  reference: ['"PITCH-1"'],
  description: ['"A pitch"'],
  return_url: ['"https://shops.example.org/"'],
  authorisation_mode: ['"web"', '"moto_api"', '"agreement"'],
  agreement_id: ['"{agreement_id}"'],
  set_up_agreement: ['"{agreement_id}"'],
  one_time_token: ['"{one_time_token}"'],
  card_number: ['"4444333322221111"', '"4000000000000002"'],
  cardholder_name: ['"A Payer"'],
  cvc: ['"123"'],
  expiry_date: ['"09/39"'],
  callback_url: ['"https://hooks.example.org/x"'],
  metadata: ['{"a":1}'],
  subscriptions: ['["card_payment_captured"]'],
}

/** JSON for a property, mostly a valid value, so that later checks are reached too. */
function valueFor(name: string, schema: Json, depth: number): fc.Arbitrary<string> {
  const allowed: fc.Arbitrary<string> = good[name]
    ? fc.constantFrom(...(good[name] ?? []))
    : schema?.enum
      ? fc.constantFrom(...schema.enum.map((value: unknown) => JSON.stringify(value)))
      : schema?.type === 'boolean'
        ? fc.constantFrom('true', 'false')
        : schema?.properties && depth < 3
          ? objectOf(schema, depth + 1)
          : fc.constantFrom('"text"', '7')
  return weighted([8, allowed], [2, nastyJson])
}

function objectOf(schema: Json, depth = 0): fc.Arbitrary<string> {
  const required = new Set<string>(schema.required ?? [])
  const known = Object.entries<Json>(schema.properties).map(([name, property]) =>
    fc
      .tuple(fc.nat(19), valueFor(name, property, depth))
      .map(([chance, value]) =>
        (required.has(name) ? chance > 0 : chance > 13) ? `${JSON.stringify(name)}:${value}` : '',
      ),
  )
  const names = Object.keys(schema.properties).map(name => JSON.stringify(name))
  const again = fc.tuple(fc.oneof(nastyKey, fc.constantFrom(...names)), nastyJson)
  const extra = weighted([8, fc.constant('')], [1, again.map(pair => pair.join(':'))])
  return fc.tuple(...known, extra).map(pairs => `{${pairs.filter(Boolean).join(',')}}`)
}

const formNames = ['scenario', 'chargeTokenId', 'step', 'one_time_token', 'card_number', 'cvc']
const form = nastyPairs(
  formNames,
  fc.constantFrom('success', 'declined', 'error', 'cancel', 'details', 'confirm', '{token}', '1'),
)

const bytes = (text: fc.Arbitrary<string>): fc.Arbitrary<Buffer> => text.map(it => Buffer.from(it))

function anyBody({ body, path }: Operation): fc.Arbitrary<Buffer> {
  const usual = path.startsWith('/secure') ? bytes(form) : fc.constant(Buffer.alloc(0))
  return weighted(
    [12, body ? bytes(objectOf(body)) : usual],
    [2, bytes(nastyJson)],
    [1, bytes(form)],
  )
}

const values = fc.constantFrom('1', '2', 'success')

/** The path with its placeholders, rarely with another text in their place. */
const targetOf = ({ path, query }: Operation): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.nat(11), nastyText), { minLength: 2, maxLength: 2 }),
      fc.option(nastyPairs(query.length > 0 ? query : ['q'], values), { nil: undefined }),
      fc.nat(120),
    )
    .map(([choices, pairs, oddity]) => {
      let nth = 0
      const filled = path.replace(/\{\w+\}/g, name => {
        const [chance = 1, text = ''] = choices[nth++] ?? []
        return chance === 0 ? percentEncoded(text) : name
      })
      const target = pairs === undefined ? filled : `${filled}?${pairs}`
      return odd(target, oddity)
    })

const oddities: ((target: string) => string)[] = [
  target => `${target}/`,
  target => target.replace('/', '//'),
  target => target.replaceAll('/', '/./'),
  target => `/..${target}`,
  target => target.replace('/v1', '/V1'),
  target => target.replace('/v1/', '/v1%2f'),
  target => target.replace('v', '%76'),
  target => `${target}#fragment`,
  target => `${target};a=b`,
  target => `http://other.example${target}`,
  target => `${target}%`,
  target => `${target}/%ff`,
  target => `${target}/${'a/'.repeat(300)}`,
  target => `${target}/${'%41'.repeat(3000)}`,
]

const odd = (target: string, oddity: number): string => oddities[oddity]?.(target) ?? target

const types = [
  ...'application/json application/json APPLICATION/JSON application/json;charset=utf-8'.split(' '),
  ...'application/vnd.a+json application/json\x80 application/ multipart/form-data'.split(' '),
  ...'application/x-www-form-urlencoded text/plain ; */*'.split(' '),
  'application/x-www-form-urlencoded; ;;=',
  '',
]

const header = (name: string, ...values: string[]): fc.Arbitrary<[string, string]> =>
  fc.constantFrom(...values).map(value => [name, value])

/** A text without the characters that end a header. */
const headerText = nastyText.map(text =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[\0\r\n]/g, '')
    .slice(0, 3_000),
)

const strangeHeader: fc.Arbitrary<[string, string]> = fc.oneof(
  header('Authorization', 'Bearer', 'bearer {key}', 'Basic e30=', 'Bearer  {key}', ''),
  header('Authorization', 'Bearer {key}', 'Bearer {key} x', 'Bearer api_test_nobody'),
  header('Host', '', 'a b', '[::1', 'x'.repeat(300), 'a,b', '"><x>', '127.0.0.1:99999', 'é'),
  header('Content-Type', ...types),
  header('Content-Encoding', 'gzip', 'identity', 'br', 'x', ''),
  header('Idempotency-Key', 'key-1', '', ' ', 'a b', 'x'.repeat(255), 'x'.repeat(256), 'é', 'a,b'),
  header('Sec-Fetch-Site', 'same-origin', 'cross-site', 'none', ''),
  header('X-HTTP-Method-Override', 'DELETE'),
  header('X-Forwarded-Host', 'evil.example', '"><x>'),
  header('X-Forwarded-Proto', 'https', 'javascript'),
  header('If-None-Match', '*', '"x"'),
  header('Range', 'bytes=0-1', 'bytes=-'),
  header('Accept', 'text/html', '*/*', 'application/xml'),
  header('Accept-Encoding', 'gzip', 'br;q=x', '*'),
  header('Expect', 'nonsense'),
  header('Connection', 'close', 'keep-alive'),
  header('Upgrade', 'websocket', 'h2c'),
  header('Cookie', 'a=b', ';;;', 'x'.repeat(3_000)),
  header('Date', 'yesterday'),
  headerText.map((text): [string, string] => ['Idempotency-Key', text]),
  headerText.map((text): [string, string] => ['Authorization', `Bearer ${text}`]),
  headerText.map((text): [string, string] => ['X-Anything', text]),
)

const methods = METHODS.filter(method => method !== 'CONNECT')

/** A request to one of the operations. */
export const hostileRequest = (operations: Operation[]): fc.Arbitrary<HostileRequest> =>
  weighted(
    ...operations.map((each): [number, fc.Arbitrary<HostileRequest>] => [
      each.body || each.path.startsWith('/secure') ? 4 : 1,
      toOperation(each),
    ]),
  )

function toOperation(operation: Operation): fc.Arbitrary<HostileRequest> {
  const isForm = operation.path.startsWith('/secure')
  return fc
    .record({
      otherMethod: weighted([15, fc.constant('')], [1, fc.constantFrom(...methods)]),
      target: targetOf(operation),
      withKey: fc.nat(15),
      typed: fc.nat(9),
      strange: fc.array(strangeHeader, { maxLength: 2 }),
      body: damaged(anyBody(operation)),
      chunked: fc.boolean(),
    })
    .map(({ otherMethod, target, withKey, typed, strange, body, chunked }) => {
      const usual = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
      const headers: [string, string][] = [
        ...(withKey > 0 ? [['Authorization', 'Bearer {key}'] as [string, string]] : []),
        ...(typed > 0 && body.length > 0 ? [['Content-Type', usual] as [string, string]] : []),
        ...strange,
      ]
      return { method: otherMethod || operation.method, target, headers, body, chunked }
    })
}
