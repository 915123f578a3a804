import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { notAnObject } from '../../../src/core/errors.ts'
import { forgeryRules, probeRules } from '../../../src/tools/explain/check/probe-rules.ts'
import { createFactWriter, productionRows } from '../../../src/tools/explain/check/production.ts'
import { ruleIds, rules } from '../../../src/tools/explain/check/report.ts'
import type { RawRequest } from '../../../src/tools/record/row.ts'
import { type Body, webPayment } from '../../support/client.ts'
import { clients } from '../../support/clients.ts'
import { ask } from '../../support/control.ts'
import { choose } from '../../support/journeys.ts'
import type { Answer } from '../../support/receiver.ts'
import { receivers } from '../../support/receivers.ts'
import { rawSearch } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'

onEveryDatabase('Differences in the record', { ...receiving, control: true }, service => {
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

  test('an account that behaves as GOV.UK Pay reports receivers that redirect or refuse each first attempt, and a receiver without a body has learnt nothing', async t => {
    for (const [status, expected] of [
      [302, 'C1 fail, W2 fail'],
      [307, 'W2 note'],
      [500, 'C1 fail, W3 fail'],
    ] as const) {
      const api = await service().newAccount('govuk-pay')
      const onRequest = ({ request, response }: Answer) => {
        response.writeHead(request.path === '/hook' ? status : 200, { location: '/other' }).end()
      }
      const behaviour = { plain: true as const, onRequest }
      const subscriptions = ['card_payment_failed']
      await subscribe(t, api, { at: '/control/webhooks', subscriptions, behaviour })
      for (let i = 0; i < 3; i++) await choose(api, await api.createPayment(), 'declined')
      for (const { deliveries } of service().apps) await deliveries.settled()
      const { findings } = (await ask(service(), api, 'check?as_of=10m')).body
      const broken = findings
        .filter(({ rule, level }: Body) => /^[CW]/.test(rule) && /fail|warn|note/.test(level))
        .map(({ rule, level }: Body) => `${rule} ${level}`)
      assert.equal(broken.join(', '), expected)
    }
  })
})

const posted: RawRequest = {
  ...rawSearch,
  operation: 'createPayment',
  method: 'POST',
  status: 201,
  requestBody: '{"amount":0}',
}

const recordOf = (exchange: object) =>
  ({ behaviour: 'specification', exchanges: [exchange] }) as never

test('a rule that throws is reported once, recorded as not evaluated, and does not stop the others', () => {
  const faults: unknown[] = []
  const judge = createFactWriter(error => faults.push(error))
  const refusal = Object.defineProperty(notAnObject('P0197'), 'code', {
    get: () => assert.fail('a mistake in a rule'),
  })
  const request: RawRequest = { ...posted, refusal }
  const headers = { 'content-type': 'application/json' }
  for (let times = 0; times < 2; times++) {
    const { broken, unjudged } = judge.request(request, headers)
    assert.deepEqual([broken, unjudged], [['P1-leastAmount'], ['P4-usedKey']])
  }
  const exchange = { ...request, ...judge.request(request, headers) }
  const p4 = rules.find(({ id }) => id === 'P4')?.evaluate(recordOf(exchange))
  assert.match(p4?.lacking ?? '', /^This rule is not judged: it failed/)
  assert.equal(faults.length, 1)
})

test('a request that could not be read by a mistake is recorded as not evaluated by any rule', () => {
  const kept = createFactWriter(() => {}).request({ ...posted, url: undefined as never }, {})
  const p1 = rules.find(({ id }) => id === 'P1')?.evaluate(recordOf(kept))
  assert.match(p1?.lacking ?? '', /^This rule is not judged: it failed/)
})

test('the return_url of a refused create is not compared, because nothing limits its values', () => {
  const entries = Array.from({ length: 2_000 }, (_, i) => [`${i}`, `value${i}`])
  const metadata = Object.fromEntries(entries)
  const return_url = `https://a.example/${'a/'.repeat(15_000)}value1`
  const requestBody = JSON.stringify({ ...webPayment, metadata, return_url })
  const refused = { ...posted, status: 422, requestBody }
  const { created } = createFactWriter(() => {}).request(refused, {})
  assert.deepEqual([created?.mode, created?.told], ['web', undefined])
})

const read = (file: string) =>
  readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')

const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter(line => /^\| (?!Rule \||Subject \|)/.test(line))
    .map(line => line.replaceAll('\\|', '').slice(2, -2).split(' | '))

test('each difference from GOV.UK Pay has a rule, or says that no request shows it', () => {
  const [, differences = ''] = read('spec-gaps.md').split('## Where GOV.UK Pay differs')
  const rows = rowsOf(differences)
  assert.ok(rows.length > 45)
  const cited = rows.flatMap(([, , , cell = '']) => cell.match(/\b[CPRW]\d{1,2}\b/g) ?? [])
  const known = [...ruleIds, ...probeRules.map(({ id }) => id)]
  const unknown = cited.filter(id => !known.includes(id))
  assert.deepEqual(unknown, [])
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

const expected = Object.values({ ...clients, ...receivers }).flatMap(each => each.expected)
const broken = expected.map(each => each.replace(/ x\d+$/, ''))

test('docs/check.md has each rule once, in order, with each level that a client or a receiver shows', () => {
  const rows = rowsOf(read('check.md')).filter(([id = '']) => /^[PCW]\d+$/.test(id))
  // The document begins with the rules P, the report with the rules C.
  const byLetter = (one: string, other: string) => one.charCodeAt(0) - other.charCodeAt(0)
  assert.deepEqual(rows.map(([id = '']) => id).toSorted(byLetter), ruleIds)
  const levels = rows.flatMap(([id, all = '']) => all.split(', ').map(level => `${id} ${level}`))
  assert.deepEqual(levels.toSorted(), [...new Set(broken)].toSorted())
})

test('each rule is broken by a client or a receiver, at the level of each of its rows', () => {
  const rows = [...productionRows, ...rules]
  const missed = rows.filter(({ id, level }) => !broken.includes(`${id} ${level}`))
  assert.deepEqual(missed, [])
})
