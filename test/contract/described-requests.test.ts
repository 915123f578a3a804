/** Holds the service to the description of each field and filter in /openapi.json, including future ones. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { type Body, type Client, webPayment } from '../support/client.ts'
import { card, paidPayment } from '../support/journeys.ts'
import { activeAgreement, newAgreement, ofLength } from '../support/new-payment.ts'
import { onOneDatabase, onSharedDatabases, type SharedService } from '../support/service.ts'

type Schema = Body

/** Values that a field of this schema must not have, each as JSON. */
function refusedBy({ type, enum: values, ...limits }: Schema): string[] {
  const types: string[] = [type ?? []].flat()
  const isText = types.includes('string')
  if (types.length === 0) return []
  return [
    types.includes('object') ? '[]' : '{}',
    ...(isText && types.includes('integer') ? ['5.5'] : [isText ? '5' : '"5"']),
    ...(isText ? ['"\\u0000"', '"\\ud800"'] : []),
    ...(values || limits.pattern ? ['"none of them"'] : []),
    ...(limits.maxLength ? [ofLength(limits.maxLength + 1)] : []),
    ...(limits.minLength > 1 ? [ofLength(limits.minLength - 1)] : []),
    ...(limits.minimum !== undefined ? [`${limits.minimum - 1}`] : []),
    ...(limits.maximum ? [`${limits.maximum + 1}`] : []),
  ]
}

/** An allowed value of a filter that few or none of the objects in these tests have. */
function rare(name: string, { enum: values, pattern, format }: Schema): string {
  if (values) return values[0]
  if (pattern) return '7'.repeat(Number(/\{(\d)\}/.exec(pattern)?.[1]))
  const day = name.startsWith('to_') ? '1999-01-01' : '2099-01-01'
  if (format === 'date') return day
  return format === 'date-time' ? `${day}T00:00:00Z` : 'nobody has this'
}

function described(service: () => SharedService) {
  let api: Client
  let document: Body
  /** Valid bodies. A template is the path in the document, and `path` the one to send to. */
  const bodies: [template: string, path: string, body: Body][] = []

  before(async () => {
    api = await service().newAccount()
    document = (await api.get('/openapi.json')).body
    const agreement_id = await activeAgreement(api)
    await newAgreement(api)
    const { payment_id } = await paidPayment(api)
    const moto = await api.createPayment({ authorisation_mode: 'moto_api' })
    const { return_url, ...anyMode } = webPayment
    const refunds = '/v1/payments/{payment_id}/refunds'
    const refundsOfPaid = refunds.replace('{payment_id}', payment_id)
    assert.equal((await api.post(refundsOfPaid, { amount: 1 })).status, 202)
    bodies.push(
      ['/v1/payments', '/v1/payments', webPayment],
      [
        '/v1/payments',
        '/v1/payments',
        { ...anyMode, authorisation_mode: 'agreement', agreement_id },
      ],
      [refunds, refundsOfPaid, { amount: 1 }],
      ['/v1/agreements', '/v1/agreements', { reference: 'R', description: 'D' }],
      ['/v1/webhooks', '/v1/webhooks', { callback_url: 'https://hooks.example.org/x' }],
      ['/v1/auth', '/v1/auth', { ...card, ...moto._links.auth_url_post.params }],
    )
  })
  return { api: () => api, document: () => document, bodies }
}

onOneDatabase('OpenAPI: bodies of requests', service => {
  const { api, document, bodies } = described(service)

  const resolved = ({ $ref, ...schema }: Schema): Schema =>
    $ref ? document().components.schemas[$ref.split('/').at(-1)] : schema

  const sentTo = (template: string): Schema | undefined =>
    document().paths[template].post?.requestBody?.content['application/json']?.schema

  /** The names of each field, from the outermost in, and its schema, also in objects within the object. */
  function fieldsOf(schema: Schema): [names: string[], schema: Schema][] {
    return Object.entries<Schema>(resolved(schema).properties ?? {}).flatMap(([name, inner]) => [
      [[name], resolved(inner)],
      ...fieldsOf(inner).map(([names, of]): [string[], Schema] => [[name, ...names], of]),
    ])
  }

  function replaced(object: Body, [name = '', ...inner]: string[], json: string): string {
    const rest = Object.entries(object ?? {}).filter(([other]) => other !== name)
    const value = inner.length > 0 ? replaced(object?.[name], inner, json) : json
    const texts = rest.map(([other, kept]) => `${JSON.stringify(other)}:${JSON.stringify(kept)}`)
    return `{${[...texts, `${JSON.stringify(name)}:${value}`].join()}}`
  }

  test('every value that /openapi.json does not allow in the field of a body is refused', async () => {
    const posts = Object.keys(document().paths).filter(path => sentTo(path))
    assert.deepEqual(new Set(bodies.map(([template]) => template)), new Set(posts))
    for (const [template, path, body] of bodies)
      for (const [names, schema] of fieldsOf(sentTo(template)))
        for (const json of refusedBy(schema)) {
          const sent = replaced(body, names, json)
          const headers = { 'Content-Type': 'application/json' }
          const answer = await api().request('POST', path, { headers, body: sent })
          const what = `POST ${path} ${sent}: ${answer.status} ${answer.text}`
          assert.ok([400, 422].includes(answer.status), what)
          assert.ok(names.includes(answer.body.field), what)
        }
  })
})

onSharedDatabases('OpenAPI: filters', service => {
  const { api, document } = described(service)

  test('every filter that /openapi.json describes excludes what it does not match', async () => {
    let filters = 0
    for (const [path, { get }] of Object.entries<Body>(document().paths))
      for (const { in: place, name, schema } of get?.parameters ?? [])
        if (place === 'query' && !['page', 'display_size'].includes(name)) {
          const all = (await api().get(path)).body.total
          const { status, body } = await api().get(`${path}?${name}=${rare(name, schema)}`)
          assert.equal(status, 200, `${path} ${name}`)
          assert.ok(all > 1 || path === '/v1/refunds', `${path} has too few`)
          assert.ok(body.total < all, `${path}?${name}= finds ${body.total} of ${all}`)
          filters += 1
        }
    assert.ok(filters >= 23)
  })
})
