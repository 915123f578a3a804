import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventTypes } from '../../../src/pay/webhooks/webhook.ts'
import { findingOf } from '../../../src/tools/explain/check/finding.ts'
import { judgeAll } from '../../../src/tools/explain/check/report.ts'
import { MOST_BODY_BYTES } from '../../../src/tools/record/exchange.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import { DAY, hook, type Kept, MINUTE, pay, SECOND, times } from '../../support/integration.ts'
import { read } from '../../support/journeys.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { receiving } from '../../support/subscriber.ts'
import { outcomes } from '../../support/zoo-outcomes.ts'
import { receivers, requests } from '../../support/zoo-requests.ts'
import { right } from '../../support/zoo-right.ts'
import { changes, refusals } from '../webhooks/payment-changes.ts'

/** A client whose requests are each a millisecond after the one before. */
function ticking(api: Client, { clock }: Service): Client {
  const tick =
    <Given extends unknown[], Result>(act: (...given: Given) => Result) =>
    (...given: Given): Result => {
      clock.advance(1)
      return act(...given)
    }
  const { get, post, postForm, createPayment, request } = api
  return {
    ...api,
    get: tick(get),
    post: tick(post),
    postForm: tick(postForm),
    createPayment: tick(createPayment),
    request: tick(request),
  }
}

/** As a service would make them: it reads each payment and takes each message, and there is a second between two payments. */
const contractJourneys: Kept = [
  'every change of a payment, and every refusal, in the contract tests of webhooks',
  ['P11 note', 'P14 note', 'P14 note', 'P15 note'],
  async keeper => {
    const { api } = keeper
    await hook(keeper, 200, eventTypes)
    for (const { from, change } of Object.values({ ...changes, ...refusals })) {
      const before = await from(api)
      const changed = await change(api, before)
      await read(api, before ?? changed)
      await api.advance(SECOND)
    }
    await api.advance(DAY)
  },
]

const isOpen = ({ level }: Body): boolean => level !== 'pass' && level !== 'not seen'

onEveryDatabase(
  'The check of an account',
  service => {
    const report = async (api: Client, query = ''): Promise<Body> => {
      const { status, body } = await ask(service(), api, `check${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }

    const judges = (title: string, integrations: Kept[]) =>
      test(title, async t => {
        for (const [what, expected, act] of integrations) {
          const { name: room, api: plain } = await service().newNamedAccount()
          const api = ticking(plain, service())
          await act({ t, service: service(), room, api })
          const { findings } = await report(api)
          const found = findings.filter(isOpen).map(({ rule, level }: Body) => `${rule} ${level}`)
          assert.deepEqual(found, expected, what)
        }
      })

    judges('each integration in the zoo is found by exactly the rules that it breaks', [
      ...outcomes,
      ...requests,
      ...receivers,
    ])
    judges('integrations that are right have no fail and no warning', [...right, contractJourneys])

    test('a rule with nothing to judge says what is lacking, and one with evidence passes', async () => {
      const api = await service().newAccount()
      const empty = await report(api)
      assert.deepEqual([empty.from, empty.kept, empty.not_kept], [null, 0, 0])
      assert.ok(empty.findings.every(({ level }: Body) => level === 'not seen'))
      await api.createPayment()
      const { findings, kept } = await report(api)
      const [p1] = findings.filter(({ rule }: Body) => rule === 'P1')
      assert.deepEqual([kept, p1.level, p1.times], [1, 'pass', 1])
      assert.equal(p1.evidence.length, 1)
      const ids = new Set(findings.map(({ rule }: Body) => rule))
      assert.equal(ids.size, findings.length)
    })

    test('a return_url whose digits are masked shows nothing about what it tells', async () => {
      const api = await service().newAccount()
      const reference = 'ORDER-1795666324143'
      await api.createPayment({ reference, return_url: `https://shop.example.org/${reference}` })
      const { findings } = await report(api, '?rule=C6')
      assert.deepEqual([findings[0].level, findings[0].times], ['not seen', 0])
    })

    test('since leaves out what was before, and rule all other rules', async () => {
      const api = await service().newAccount()
      await api.createPayment({ amount: 0 })
      const later = new Date(await api.advance(1_000)).toISOString()
      await api.createPayment()
      const levelOf = ({ findings }: Body) => findings.map(({ level }: Body) => level)
      assert.deepEqual(levelOf(await report(api, '?rule=P1')), ['warn'])
      const after = await report(api, `?rule=P1&since=${later}`)
      assert.deepEqual([levelOf(after), after.from, after.kept], [['pass'], later, 1])
      for (const query of ['?rule=P99', '?since=yesterday', '?level=fail']) {
        const { status } = await ask(service(), api, `check${query}`)
        assert.equal(status, 422, query)
      }
    })

    test('a key at its second use is one finding at the worse level, with the request that was refused', async () => {
      const api = await service().newAccount()
      const headers = { 'Idempotency-Key': 'k-1' }
      await api.createPayment({}, headers)
      await api.post(
        '/v1/payments',
        { amount: 1, reference: 'r', description: 'd', return_url: 'https://a.example.org' },
        headers,
      )
      const { findings } = await report(api, '?rule=P4')
      assert.deepEqual(
        findings.map(({ level, times }: Body) => [level, times]),
        [['fail', 1]],
      )
    })

    const changeRows = async (room: string, body: string): Promise<void> => {
      for (const { recorder } of service().apps) await recorder?.flush()
      await service().database.write([
        { sql: `update exchanges set body = ${body} where account = $1`, values: [room] },
      ])
    }

    test('a row that cannot be read counts as not kept, and the rest is judged', async () => {
      for (const damaged of ['{', '{}', 'null']) {
        const { name, api } = await service().newNamedAccount()
        await api.createPayment()
        await changeRows(name, `'${damaged}'`)
        await api.createPayment({ amount: 0 })
        const { kept, not_kept, findings } = await report(api)
        assert.deepEqual([kept, not_kept], [1, 1], damaged)
        assert.deepEqual(
          findings.filter(isOpen).map(({ rule }: Body) => rule),
          ['P1'],
          damaged,
        )
      }
    })

    test('what another version recorded counts where it broke a rule, and shows for no rule that it is kept', async () => {
      const { name, api } = await service().newNamedAccount()
      await api.createPayment({ amount: 0 })
      await changeRows(name, `replace(body, '"judged":', '"was":')`)
      const { findings } = await report(api)
      const levelOf = (id: string) => findings.find(({ rule }: Body) => rule === id)
      assert.equal(levelOf('P1').level, 'warn')
      assert.equal(levelOf('P2').level, 'not seen')
      assert.match(levelOf('P2').sentence, /another version of Farthing recorded/)
      await api.createPayment()
      const [p2] = (await report(api, '?rule=P2')).findings
      assert.deepEqual([p2.level, p2.times], ['pass', 1])
    })

    test('a search of which only the beginning is kept shows nothing about the payments that it may have listed', async () => {
      const api = ticking(await service().newAccount(), service())
      await times(3, () => pay(api))
      await times(9, () => api.createPayment())
      const { text } = await api.get('/v1/payments')
      assert.ok(text.length > MOST_BODY_BYTES)
      await api.advance(10 * MINUTE)
      const [unknown] = (await report(api, '?rule=C1')).findings
      assert.equal(unknown.level, 'not seen')
      await times(3, () => pay(api))
      await api.advance(10 * MINUTE)
      const [found] = (await report(api, '?rule=C1')).findings
      assert.deepEqual([found.level, found.times], ['warn', 3])
    })

    test('an account sees nothing of another one in its check', async () => {
      const [one, other] = [await service().newAccount(), await service().newAccount()]
      await one.createPayment({ amount: 0 })
      const { body: child } = await ask(service(), one, 'accounts', {})
      const ofChild = createClient(service().baseUrls, child.key)
      for (const api of [other, ofChild]) {
        const { findings, kept } = await report(api)
        assert.deepEqual([kept, findings.filter(isOpen)], [0, []])
      }
    })
  },
  { ...receiving, control: true },
)

test('a rule that throws is not judged, which the log has, and hides no other', async () => {
  const rule = { id: 'P1', title: 'T', sentence: 'S', advice: 'A', source: 'Documentation' }
  const mistake = new Error('a mistake in a rule')
  const faults: unknown[] = []
  const findings = await judgeAll(
    [
      {
        rule,
        judge: () => {
          throw mistake
        },
      },
      { rule, judge: () => [findingOf(rule, 'warn', [])] },
    ],
    error => faults.push(error),
  )
  assert.deepEqual(
    findings.map(({ level }) => level),
    ['not seen', 'warn'],
  )
  assert.match(findings[0]?.sentence ?? '', /^This rule is not judged: it failed/)
  assert.deepEqual(faults, [mistake])
})
