import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DAY, MINUTE, SECOND } from '../../../src/core/time.ts'
import { eventTypesOf } from '../../../src/pay/webhooks/webhook.ts'
import { evaluateAll, rules } from '../../../src/tools/explain/check/report.ts'
import { activeAgreement } from '../../support/agreements.ts'
import type { Body, Client } from '../../support/client.ts'
import { clients } from '../../support/clients.ts'
import { ask, made } from '../../support/control.ts'
import { client, createKeeper, times } from '../../support/integration.ts'
import { receivers } from '../../support/receivers.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'
import { changes, refusals } from '../webhooks/payment-changes.ts'

const DOCUMENT = join(import.meta.dirname, '../../../docs/check.md')
const MOST_FACTS_BYTES = 400

/** A client as a service would be: it reads each payment, takes each message, and waits a second between payments. */
const contractJourneys = client(
  'every change of a payment, and every refusal, in the contract tests of webhooks',
  'C11 note x2, P11 note x3, P14 note x5, P14 note x2, P15 note, P20 note x2',
  async ({ api, hook, read, wait }) => {
    await hook(200, eventTypesOf.specification)
    for (const { from, change } of Object.values({ ...changes, ...refusals })) {
      const before = await from(api)
      const changed = await change(api, before)
      await read(before ?? changed)
      await wait(SECOND)
    }
    await wait(DAY)
  },
)

const all = Object.values({ ...clients, ...receivers })

const isOpen = ({ level }: Body): boolean => level !== 'pass' && level !== 'not seen'
const namesOf = (findings: Body[]) =>
  [...new Set(findings.map(({ rule, level }) => `${rule} ${level}`))].toSorted()

const env = { ...receiving.env, FARTHING_RETURN_HOSTS: 'localhost,127.0.0.1,payments.example.org' }

onEveryDatabase('The check of an account', { ...receiving, control: true, env }, service => {
  const report = (api: Client, query = '') => made(ask(service(), api, `check${query}`))

  const foundBy = async (api: Client, rule: string, query = ''): Promise<[string, number]> => {
    const [{ level, times }] = (await report(api, `?rule=${rule}${query}`)).findings
    return [level, times]
  }

  const keep = async (t: TestContext) => {
    const { name, api } = await service().namedAccount()
    return createKeeper(t, service(), name, api)
  }

  test('each client and each receiver is found by exactly the rules that it breaks', async t => {
    // Both databases share the computation of the rules, so a few of each are enough on the second.
    const few = new Map(all.toReversed().map(each => [`${each.expected}`, each])).values()
    const chosen = service().kind === 'sqlite' ? [...all, contractJourneys[1]] : [...few]
    const found: [what: string, rules: string[]][] = []
    for (const { what, act } of chosen) {
      const keeper = await keep(t)
      await act(keeper)
      const { findings } = await report(keeper.api)
      const open: Body[] = findings.filter(isOpen)
      found.push([
        what,
        open.map(({ rule, level, times }) => `${rule} ${level}${times > 1 ? ` x${times}` : ''}`),
      ])
      // A request is shown with the rules that it breaks, and without its card number.
      const { body } = await keeper.control('requests?limit=100')
      const shown: Body[] = body.results.flatMap(({ in_production }: Body) => in_production)
      const produced = open.filter(({ rule }) => /^P(?!1[1345]$)/.test(rule))
      assert.deepEqual(namesOf(shown), namesOf(produced), what)
      assert.doesNotMatch(JSON.stringify(body), /\b(?:4242|9999|4000)\d{12}\b/, what)
      const [{ bytes } = { bytes: 0 }] = await service().database.query<{ bytes: number }>(
        'select max(length(facts)) as bytes from exchanges where account = $1',
        [keeper.room],
      )
      assert.ok(bytes <= MOST_FACTS_BYTES, `${what}: ${bytes} bytes of facts`)
    }
    const wanted = chosen.map(({ what, expected }) => [what, expected])
    assert.deepEqual(found, wanted)
  })

  test('an account that behaves as GOV.UK Pay has no rule about differences that its answers show', async () => {
    const api = await service().newAccount('govuk-pay')
    await api.createPayment({ return_url: 'http://shop.example.org/back' })
    const { findings } = await report(api)
    const found = findings.map(({ rule }: Body) => rule).filter((id: string) => /^P/.test(id))
    const [named] = /`govuk-pay` has only .*/.exec(readFileSync(DOCUMENT, 'utf8')) ?? ['']
    assert.deepEqual(found.toSorted(), named.match(/P\d+/g)?.toSorted())
    assert.deepEqual(namesOf(findings.filter(isOpen)), ['P2 warn'])
  })

  test('a client that read a recurring payment only while it was open has not learnt its outcome', async t => {
    const { name, api } = await service().namedAccount('govuk-pay')
    const keeper = createKeeper(t, service(), name, api)
    const agreement = await activeAgreement(keeper.api)
    const chargeAndRead = async (headers?: Record<string, string>) => {
      const charge = await keeper.charge(agreement, headers ? 200 : 201, headers)
      assert.match((await keeper.read(charge)).state.status, /^(?:created|started)$/)
      return charge
    }
    const key = { 'Idempotency-Key': 'lost' }
    await keeper.plan({ on: 'createPayment', reset: true, when: 'after' })
    await keeper.charge(agreement, 201, key).catch(() => {})
    const charges = [await chargeAndRead(key), await chargeAndRead(), await chargeAndRead()]
    await keeper.wait(10 * MINUTE)
    assert.deepEqual(await foundBy(api, 'C9'), ['fail', 3])
    for (const charge of charges) await keeper.read(charge)
    assert.deepEqual(await foundBy(api, 'C9'), ['pass', 3])
  })

  test('nothing is seen before the first exchange, since leaves out earlier ones, and rule all other rules', async () => {
    const api = await service().newAccount()
    const empty = await report(api)
    assert.deepEqual([empty.from, empty.kept, empty.not_kept], [null, 0, 0])
    assert.ok(empty.findings.every(({ level }: Body) => level === 'not seen'))
    assert.equal(new Set(empty.findings.map(({ rule }: Body) => rule)).size, rules.length)
    await api.createPayment({ amount: 0 })
    const later = new Date(await api.advance(1_000)).toISOString()
    await api.createPayment()
    assert.deepEqual(await foundBy(api, 'P1'), ['warn', 1])
    assert.deepEqual(await foundBy(api, 'P1', `&since=${later}`), ['pass', 1])
    const { findings, from, kept } = await report(api, `?rule=P1&since=${later}`)
    const [{ evidence }, ...others] = findings
    assert.deepEqual([from, kept, evidence.length, others], [later, 1, 1, []])
    for (const query of ['?rule=P99', '?since=yesterday', '?level=fail']) {
      const { status } = await ask(service(), api, `check${query}`)
      assert.equal(status, 422, query)
    }
  })

  test('as_of evaluates as if so much time had passed, and since must leave the time that a rule needs', async t => {
    const { api, pay, read } = await keep(t)
    await times(3, () => pay({ delayed_capture: true }))
    await api.createPayment()
    await read(await api.createPayment())
    const { body: clock } = await ask(service(), api, '')
    const since = `since=${encodeURIComponent(clock.clock.now)}`
    await api.advance(SECOND)
    for (const [query, levels] of [
      ['', ['not seen', 'not seen', 'not seen']],
      ['as_of=9m', ['not seen', 'not seen', 'not seen']],
      ['as_of=%2B10m', ['fail', 'not seen', 'not seen']],
      ['as_of=+3h', ['fail', 'not seen', 'note']],
      ['as_of=1d', ['fail', 'warn', 'note']],
      [`${since}&as_of=1d`, ['not seen', 'not seen', 'not seen']],
    ] as const) {
      for (const [i, rule] of ['C1', 'C7', 'C12'].entries())
        assert.equal((await foundBy(api, rule, `&${query}`))[0], levels[i], `${rule} ${query}`)
    }
    const early = '&since=2026-01-01T00%3A00%3A00.000Z&as_of=1d'
    assert.equal((await foundBy(api, 'C1', early))[0], 'fail')
    const short = (await report(api, `?rule=C1&${since}`)).findings[0]
    assert.match(short.sentence, /^The time that is looked at is too short for this rule/)
    for (const query of ['?as_of=1', '?as_of=366d', '?as_of=-1d', '?as_of=tomorrow'])
      assert.equal((await ask(service(), api, `check${query}`)).status, 422, query)
  })

  test('a rule passes only with an exchange that could have broken it', async t => {
    const { api, payAndRead } = await keep(t)
    await subscribe(t, api, { subscriptions: eventTypesOf.specification })
    await payAndRead()
    await api.get('/v1/payments')
    const { findings } = await report(api)
    const levelOf = (id: string) => findings.find(({ rule }: Body) => rule === id).level
    for (const id of ['P7', 'P11', 'P12', 'P13', 'P14', 'C11', 'W4'])
      assert.equal(levelOf(id), 'not seen', id)
    for (const id of ['P1', 'P5', 'C2', 'W2']) assert.equal(levelOf(id), 'pass', id)
    const finding = findings.find(({ rule }: Body) => rule === 'W2')
    assert.equal(finding.webhook_id, undefined)
  })

  test('a finding about a receiver names its webhook', async t => {
    const { api, hook, payAndRead } = await keep(t)
    const { external_id } = await hook(302)
    await payAndRead()
    const [{ level, webhook_id, sentence }] = (await report(api, '?rule=W2')).findings
    assert.deepEqual([level, webhook_id], ['fail', external_id])
    assert.match(sentence, /GET without body .* It is the webhook localhost:\d+\.$/)
  })

  const changeRows = async (room: string, facts: string): Promise<void> => {
    await flush(service())
    await service().database.write([
      { sql: `update exchanges set facts = ${facts} where account = $1`, values: [room] },
    ])
  }

  test('a row that cannot be read counts as not kept, and the rules read the others', async () => {
    for (const damaged of [`'{'`, `'{}'`, `'null'`, 'null']) {
      const { name, api } = await service().namedAccount()
      await api.createPayment()
      await changeRows(name, damaged)
      await api.createPayment({ amount: 0 })
      const { kept, not_kept, findings } = await report(api)
      assert.deepEqual([kept, not_kept], [1, 1], damaged)
      assert.deepEqual(namesOf(findings.filter(isOpen)), ['P1 warn'], damaged)
    }
  })

  test('an exchange that another version recorded can break a rule, but never makes one pass', async () => {
    const { name, api } = await service().namedAccount()
    await api.createPayment({ amount: 0 })
    await changeRows(name, `replace(facts, '"judged":', '"was":')`)
    const { findings } = await report(api)
    const levelOf = (id: string) => findings.find(({ rule }: Body) => rule === id)
    assert.equal(levelOf('P1').level, 'warn')
    assert.equal(levelOf('P2').level, 'not seen')
    assert.match(levelOf('P2').sentence, /another version of Farthing recorded/)
    await api.createPayment()
    assert.deepEqual(await foundBy(api, 'P2'), ['pass', 1])
  })

  test('a search that lists more payments than its record keeps counts as a read of each', async t => {
    const { api, pay } = await keep(t)
    await times(3, () => pay())
    await times(38, () => api.createPayment())
    await api.get('/v1/payments')
    await api.advance(10 * MINUTE)
    assert.deepEqual(await foundBy(api, 'C1'), ['pass', 3])
    await times(3, () => pay())
    await api.advance(10 * MINUTE)
    assert.deepEqual(await foundBy(api, 'C1'), ['warn', 3])
  })
})

test('a rule that throws is logged and not evaluated, and does not stop the others', async () => {
  const [rule = assert.fail()] = rules
  const mistake = new Error('a mistake in a rule')
  const faults: unknown[] = []
  const fail = () => {
    throw mistake
  }
  const find = () => ({ violations: [{ evidence: [], times: 1 }] })
  const both = [fail, find].map(evaluate => ({ ...rule, evaluate }))
  const [failed, found] = await evaluateAll(both, {} as never, error => faults.push(error))
  assert.deepEqual([failed?.level, found?.level], ['not seen', rule.level])
  assert.match(failed?.sentence ?? '', /^This rule is not judged: it failed/)
  assert.deepEqual(faults, [mistake])
})
