import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createFactWriter, productionRows } from '../../../src/tools/explain/check/judge.ts'
import { forgeryRules } from '../../../src/tools/explain/check/probe-forgeries.ts'
import { probeRules } from '../../../src/tools/explain/check/probe-rules.ts'
import { ruleIds, rules } from '../../../src/tools/explain/check/report.ts'
import type { RawRequest } from '../../../src/tools/record/row.ts'
import { type Body, type Client, webPayment } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { integration } from '../../support/integration.ts'
import { authorise, card, paidPayment } from '../../support/journeys.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, receiving, subscribe } from '../../support/subscriber.ts'
import { outcomes } from '../../support/zoo-outcomes.ts'
import { receivers } from '../../support/zoo-receivers.ts'
import { requests } from '../../support/zoo-requests.ts'

const moto = (api: Client) => api.createPayment({ authorisation_mode: 'moto_api' })
const pays = async (api: Client, fields: Record<string, unknown>) => {
  assert.equal((await authorise(api, await moto(api), fields)).status, 204)
}

const cases = [
  integration('a right payment', [], ({ api }) => paidPayment(api)),
  integration('an amount of 0', ['P1 warn'], ({ api }) => api.createPayment({ amount: 0 })),
  integration('a return_url of localhost and of example.org', [], async ({ api }) => {
    for (const rest of [
      'localhost/back',
      'mytest/back',
      'app.local/back',
      'app.internal/back',
      'app.localhost/back',
      'app.home.arpa/back',
      '127.0.0.1/back',
      'shop.example.org/a/../b',
      'shop.example.org/back?q=café',
    ])
      await api.createPayment({ return_url: `https://${rest}` })
  }),
  integration(
    'addresses that the validator of GOV.UK Pay takes for none',
    Array(6).fill('P3 note'),
    async ({ api }) => {
      for (const rest of [
        'app.test/back',
        'app.home/back',
        'my_app.example.org/back',
        'shop.example.org/{id}',
        'shop.example.org/café',
        'shop.example.org/../b',
      ])
        await api.createPayment({ return_url: `https://${rest}` })
    },
  ),
  integration(
    'amounts at the limits of payment providers',
    ['P17 note', 'P17 note', 'P17 note'],
    async ({ api }) => {
      for (const amount of [1, 29, 30, 500_000, 500_001]) await api.createPayment({ amount })
    },
  ),
  integration(
    'a body without a Content-Type, and one of another type of JSON',
    ['P16 warn', 'P16 warn'],
    async ({ api }) => {
      const body = new TextEncoder().encode(JSON.stringify(webPayment))
      for (const headers of [{}, { 'Content-Type': 'application/vnd.api+json' }])
        assert.equal((await api.request('POST', '/v1/payments', { headers, body })).status, 201)
    },
  ),
  integration('a key that is used once, and once more', ['P4 fail'], async ({ api }) => {
    await api.createPayment({}, { 'Idempotency-Key': 'k-1' })
    await api.post('/v1/payments', webPayment, { 'Idempotency-Key': 'k-1' })
  }),
  integration(
    'a capture of a captured payment, and of one that cannot be captured',
    ['P7 note'],
    async ({ api }) => {
      const { payment_id } = await paidPayment(api, { delayed_capture: true })
      const created = await api.createPayment()
      const statuses: number[] = []
      for (const id of [payment_id, payment_id, created.payment_id])
        statuses.push((await api.post(`/v1/payments/${id}/capture`)).status)
      assert.deepEqual(statuses, [204, 409, 409])
    },
  ),
  integration('a return_url with http', ['P2 warn'], ({ api }) =>
    api.createPayment({ return_url: 'http://localhost:3000/back' }),
  ),
  integration(
    'a return_url with the scheme and host of the payment pages, at another port',
    ['P18 note', 'P2 warn'],
    async ({ api }) => {
      const { _links } = await api.createPayment()
      const { hostname } = new URL(_links.next_url.href)
      await api.createPayment({ return_url: `http://${hostname}:3000/back` })
      await api.createPayment({ return_url: `https://${hostname}:3000/back` })
    },
  ),
  integration('a quotation mark in metadata', ['P5 note'], ({ api }) =>
    api.createPayment({ metadata: { size: '3" pipe' } }),
  ),
  integration('an angle bracket in metadata', ['P5 warn'], ({ api }) =>
    api.createPayment({ metadata: { size: '< 3' } }),
  ),
  integration('an Accept header for XML', ['P6 warn'], ({ api }) =>
    api.get('/v1/payments', { Accept: 'text/xml, application/json;q=0' }),
  ),
  integration('an Accept header of a browser', [], ({ api }) =>
    api.get('/v1/payments', { Accept: 'text/html, */*;q=0.8' }),
  ),
  integration('a wrong check digit', ['P9 fail'], ({ api }) =>
    pays(api, { card_number: '4242424242424241' }),
  ),
  integration('an unknown brand', ['P9 fail'], ({ api }) =>
    pays(api, { card_number: '9999999999999995' }),
  ),
  integration('a card that is declined there', ['P9 warn'], ({ api }) =>
    pays(api, { card_number: '4000000000000069' }),
  ),
  integration('an expiry date that is over', ['P9 fail'], ({ api }) =>
    pays(api, { expiry_date: '01/20' }),
  ),
  integration(
    'an expiry date that is over on the moved clock of the account only',
    [],
    async ({ api }) => {
      await api.advance(2 * 365 * 24 * 3_600_000)
      const year = String(new Date().getUTCFullYear() + 1).slice(-2)
      await pays(api, { expiry_date: `12/${year}` })
    },
  ),
  integration('a card that succeeds there too', [], ({ api }) =>
    pays(api, { card_number: '5105105105105100' }),
  ),
  integration('a right card', [], ({ api }) => pays(api, {})),
  integration('a card as a form', ['P10 warn'], async ({ api }) => {
    const { href, params } = (await moto(api))._links.auth_url_post
    assert.equal((await api.postForm(href, { ...params, ...card })).status, 204)
  }),
  integration('two filters of a search', ['P12 note', 'P12 note'], async ({ api }) => {
    await api.get('/v1/payments?state=capturable')
    await api.get('/v1/payments?card_brand=visa')
  }),
]

function found(requests: Body[]): string[] {
  return requests
    .flatMap(({ in_production }) => in_production)
    .map(({ rule, level }: Body) => `${rule} ${level}`)
    .toSorted()
}

onEveryDatabase(
  'What GOV.UK Pay would do differently',
  service => {
    test('each request is shown with exactly the rules that it breaks, and without the card number', async t => {
      for (const { what, expected, act } of cases) {
        const { name: room, api } = await service().newNamedAccount()
        await act({ t, service: service(), room, api })
        const { body } = await ask(service(), api, 'requests')
        assert.deepEqual(found(body.results), expected, what)
        assert.doesNotMatch(JSON.stringify(body), /\b(?:4242|9999|4000)\d{12}\b/, what)
      }
    })

    test('a body that is nested 20,000 levels deep is recorded, and the service goes on', async () => {
      const api = await service().newAccount()
      const headers = { 'Content-Type': 'application/json' }
      const nested = `${'['.repeat(20_000)}"<"${']'.repeat(20_000)}`
      for (const [field, status] of [
        ['unknown', 201],
        ['metadata', 422],
      ] as const) {
        const text = `${JSON.stringify(webPayment).slice(0, -1)}, "${field}": ${nested}}`
        const body = new TextEncoder().encode(text)
        const answer = await api.request('POST', '/v1/payments', { headers, body })
        assert.equal(answer.status, status, answer.text)
      }
      const { body } = await ask(service(), api, 'requests')
      const rows = body.results.map(({ status, in_production }: Body) =>
        [status, ...in_production.map(({ rule }: Body) => rule)].join(' '),
      )
      assert.deepEqual(rows.toSorted(), ['201 P5', '422'])
    })

    test('a message that GOV.UK Pay does not send is kept with its rule when it is taken, and not when it is refused', async t => {
      const { name, api } = await service().newNamedAccount()
      const receiver = await subscribe(t, api)
      const refusing = await subscribe(t, api, { behaviour: { onRequest: answering(400) } })
      const payment = await api.createPayment()
      await api.post(`/v1/payments/${payment.payment_id}/cancel`)
      await Promise.all([receiver.next(1), refusing.next(1)])
      await flush(service())
      const rows = await service().database.query<{ status: number; facts: string }>(
        `select status, facts from exchanges where account = $1 and kind = 'out'`,
        [name],
      )
      const kept = rows.map(({ status, facts }) => `${status} ${JSON.parse(facts).broken ?? ''}`)
      assert.deepEqual([...new Set(kept)].toSorted(), ['200 P11', '400 '])
    })
  },
  {
    ...receiving,
    control: true,
    env: { ...receiving.env, FARTHING_RETURN_HOSTS: 'localhost,127.0.0.1,payments.example.org' },
  },
)

const posted: RawRequest = {
  kind: 'api',
  operation: 'createPayment',
  room: 'default',
  behaviour: 'specification',
  began: 0,
  at: 0,
  ms: 1,
  method: 'POST',
  status: 201,
  ended: 'sent',
  url: '/v1/payments',
  rawHeaders: [],
  requestBody: '{"amount":0}',
  responseHeaders: [],
  responseBody: '{}',
  refusal: undefined,
  payment: undefined,
}

test('a rule that throws is reported once, kept as one that has not judged, and hides no other', () => {
  const faults: unknown[] = []
  const judge = createFactWriter(error => faults.push(error))
  const request: RawRequest = {
    ...posted,
    refusal: {
      get code(): string {
        throw new Error('a mistake in a rule')
      },
      message: '',
      at: {},
    },
  }
  const headers = { 'content-type': 'application/json' }
  for (let times = 0; times < 2; times++) {
    const { broken, unjudged } = judge.request(request, headers)
    assert.deepEqual([broken, unjudged], [['P1-leastAmount'], ['P4-usedKey', 'P7-secondCapture']])
  }
  const exchange = { ...request, ...judge.request(request, headers) }
  const p4 = rules.find(({ id }) => id === 'P4')?.judge({ exchanges: [exchange] } as never)
  assert.match(p4?.lacking ?? '', /^This rule is not judged: it failed/)
  assert.equal(faults.length, 1)
})

test('no rule has judged a request that could not be read by a mistake', () => {
  const kept = createFactWriter(() => {}).request({ ...posted, url: undefined as never }, {})
  const p1 = rules.find(({ id }) => id === 'P1')?.judge({ exchanges: [kept] } as never)
  assert.match(p1?.lacking ?? '', /^This rule is not judged: it failed/)
})

test('what return_url of a refused create tells is not compared, because nothing limits its size', () => {
  const metadata = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, i) => [`${i}`, `value${i}`]),
  )
  const return_url = `https://a.example/${'a/'.repeat(15_000)}value1`
  const requestBody = JSON.stringify({ ...webPayment, metadata, return_url })
  const refused = { ...posted, status: 422, requestBody }
  const { created } = createFactWriter(() => {}).request(refused, {})
  assert.deepEqual([created?.mode, created?.told], ['web', undefined])
})

const read = (file: string) =>
  readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')

/** Cells of the rows of tables. */
const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter(line => /^\| (?!Rule \||Subject \|)/.test(line))
    .map(line => line.replaceAll('\\|', '').slice(2, -2).split(' | '))

test('each difference to GOV.UK Pay has a rule, or says that it cannot be seen', () => {
  const [, differences = ''] = read('spec-gaps.md').split('## Where GOV.UK Pay differs')
  const rows = rowsOf(differences)
  assert.ok(rows.length > 45)
  const cited = rows.flatMap(([, , , cell = '']) => cell.match(/\b[CPRW]\d{1,2}\b/g) ?? [])
  const known = [...ruleIds, ...probeRules.map(({ id }) => id)]
  assert.deepEqual(
    cited.filter(id => !known.includes(id)),
    [],
  )
  const uncited = ruleIds.filter(id => /^P/.test(id) && !cited.includes(id))
  assert.deepEqual(uncited, [])
})

test('each rule has a source: file and line in the code of GOV.UK Pay, or page and heading of its documentation', () => {
  const CODE =
    /^https:\/\/github\.com\/alphagov\/pay-\w+\/blob\/[0-9a-f]{7}\/src\/main\/\S+\.\w+#L\d+(-L\d+)?$/
  const PAGE = /^https:\/\/docs\.payments\.service\.gov\.uk\/[\w/]+\/#[\w-]+$/
  for (const { id, source } of [...rules, ...productionRows, ...probeRules, ...forgeryRules])
    assert.ok(CODE.test(source) || PAGE.test(source), `${id}: ${source}`)
})

test('docs/check.md has each rule once, with its levels', () => {
  const rows = rowsOf(read('check.md')).filter(([id = '']) => /^[PCW]\d+$/.test(id))
  assert.deepEqual(rows.map(([id]) => id).toSorted(), [...ruleIds].toSorted())
  for (const { id, level } of productionRows)
    assert.ok(
      rows
        .find(row => row[0] === id)?.[1]
        ?.split(', ')
        .includes(level),
      id,
    )
})

test('each rule, at each of its levels, is broken by an integration of these tests or of the zoo', () => {
  const integrations = [...cases, ...outcomes, ...requests, ...receivers]
  const broken = new Set(integrations.flatMap(({ expected }) => expected))
  broken.add('P11 note') // A test above has its messages.
  const missed = productionRows.filter(({ id, level }) => !broken.has(`${id} ${level}`))
  assert.deepEqual(missed, [])
  const ids = new Set([...broken].map(each => each.split(' ')[0]))
  assert.deepEqual(
    ruleIds.filter(id => !ids.has(id)),
    [],
  )
})
