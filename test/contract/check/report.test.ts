import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventTypesOf } from '../../../src/pay/webhooks/webhook.ts'
import { judgeAll } from '../../../src/tools/explain/check/report.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { ask } from '../../support/control.ts'
import {
  DAY,
  hook,
  type Integration,
  integration,
  MINUTE,
  pay,
  payAndRead,
  SECOND,
  times,
} from '../../support/integration.ts'
import { read } from '../../support/journeys.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase, type Service } from '../../support/service.ts'
import { receiving } from '../../support/subscriber.ts'
import { outcomes } from '../../support/zoo-outcomes.ts'
import { receivers } from '../../support/zoo-receivers.ts'
import { recurring } from '../../support/zoo-recurring.ts'
import { requests } from '../../support/zoo-requests.ts'
import { right } from '../../support/zoo-right.ts'
import { changes, refusals } from '../webhooks/payment-changes.ts'

/** The facts of a row, in bytes. */
const MOST_FACTS_BYTES = 400

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
const contractJourneys = integration(
  'every change of a payment, and every refusal, in the contract tests of webhooks',
  ['C11 note', 'P11 note', 'P14 note', 'P14 note', 'P15 note', 'P20 note'],
  async keeper => {
    const { api } = keeper
    await hook(keeper, 200, eventTypesOf.specification)
    for (const { from, change } of Object.values({ ...changes, ...refusals })) {
      const before = await from(api)
      const changed = await change(api, before)
      await read(api, before ?? changed)
      await api.advance(SECOND)
    }
    await api.advance(DAY)
  },
)

const zoo = [...outcomes, ...recurring, ...requests, ...receivers]

const isOpen = ({ level }: Body): boolean => level !== 'pass' && level !== 'not seen'

onEveryDatabase(
  'The check of an account',
  service => {
    const report = async (api: Client, query = ''): Promise<Body> => {
      const { status, body } = await ask(service(), api, `check${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }

    /** How near to a rule one comes is computed alike for both databases, so a few are enough on the second. */
    const judges = (title: string, integrations: Integration[], onPostgres: Integration[]) =>
      test(title, async t => {
        const chosen = service().kind === 'sqlite' ? integrations : onPostgres
        const found: [what: string, rules: string[]][] = []
        for (const { what, act } of chosen) {
          const { name: room, api: plain } = await service().newNamedAccount()
          const api = ticking(plain, service())
          await act({ t, service: service(), room, api })
          const { findings } = await report(api)
          const open = findings.filter(isOpen)
          found.push([what, open.map(({ rule, level }: Body) => `${rule} ${level}`)])
          const [{ bytes } = { bytes: 0 }] = await service().database.query<{ bytes: number }>(
            'select max(length(facts)) as bytes from exchanges where account = $1',
            [room],
          )
          assert.ok(bytes <= MOST_FACTS_BYTES, `${what}: ${bytes} bytes of facts`)
        }
        assert.deepEqual(
          found,
          chosen.map(({ what, expected }) => [what, expected]),
        )
      })

    judges('each integration in the zoo is found by exactly the rules that it breaks', zoo, [
      ...new Map(zoo.toReversed().map(each => [`${each.expected}`, each])).values(),
    ])
    judges(
      'integrations that are right have no fail and no warning',
      [...right, contractJourneys],
      right,
    )

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

    test('an account that behaves as GOV.UK Pay has no rule about what it answers otherwise', async () => {
      const api = await service().newAccount('govuk-pay')
      await api.createPayment({ return_url: 'http://shop.example.org/back' })
      const { findings } = await report(api)
      const found = findings.filter(({ rule }: Body) => /^P/.test(rule))
      assert.deepEqual(found.map(({ rule }: Body) => rule).toSorted(), [
        'P14',
        'P15',
        'P17',
        'P18',
        'P2',
        'P5',
      ])
      assert.deepEqual(
        findings.filter(isOpen).map(({ rule }: Body) => rule),
        ['P2'],
      )
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

    test('as_of judges as if so much time had passed, and since must leave the time that a rule needs', async () => {
      const api = ticking(await service().newAccount(), service())
      await times(3, () => pay(api, { delayed_capture: true }))
      await api.createPayment()
      await read(api, await api.createPayment())
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
        const found = await Promise.all(
          ['C1', 'C7', 'C12'].map(async rule => {
            const { findings } = await report(api, `?rule=${rule}&${query}`)
            return findings[0].level
          }),
        )
        assert.deepEqual(found, levels, query)
      }
      const early = `since=${encodeURIComponent(clock.account.created ?? '2026-01-01T00:00:00.000Z')}`
      assert.equal((await report(api, `?rule=C1&${early}&as_of=1d`)).findings[0].level, 'fail')
      const short = (await report(api, `?rule=C1&${since}`)).findings[0]
      assert.match(short.sentence, /^The time that is looked at is too short for this rule/)
      for (const query of ['?as_of=1', '?as_of=366d', '?as_of=-1d', '?as_of=tomorrow'])
        assert.equal((await ask(service(), api, `check${query}`)).status, 422, query)
    })

    test('a rule passes only with what could have broken it', async t => {
      const { name: room, api } = await service().newNamedAccount()
      await hook({ t, service: service(), room, api }, 200, eventTypesOf.specification)
      await payAndRead(api)
      await api.get('/v1/payments')
      const { findings } = await report(api)
      const levelOf = (id: string) => findings.find(({ rule }: Body) => rule === id).level
      for (const id of ['P7', 'P11', 'P12', 'P13', 'P14', 'C11'])
        assert.equal(levelOf(id), 'not seen', id)
      for (const id of ['P1', 'P5', 'C2', 'W2']) assert.equal(levelOf(id), 'pass', id)
      const finding = findings.find(({ rule }: Body) => rule === 'W2')
      assert.equal(finding.webhook_id, undefined)
    })

    test('what broke in a receiver names its webhook', async t => {
      const { name: room, api } = await service().newNamedAccount()
      const { external_id } = await hook({ t, service: service(), room, api }, 302)
      await payAndRead(api)
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

    test('a row that cannot be read counts as not kept, and the rest is judged', async () => {
      for (const damaged of [`'{'`, `'{}'`, `'null'`, 'null']) {
        const { name, api } = await service().newNamedAccount()
        await api.createPayment()
        await changeRows(name, damaged)
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
      await changeRows(name, `replace(facts, '"judged":', '"was":')`)
      const { findings } = await report(api)
      const levelOf = (id: string) => findings.find(({ rule }: Body) => rule === id)
      assert.equal(levelOf('P1').level, 'warn')
      assert.equal(levelOf('P2').level, 'not seen')
      assert.match(levelOf('P2').sentence, /another version of Farthing recorded/)
      await api.createPayment()
      const [p2] = (await report(api, '?rule=P2')).findings
      assert.deepEqual([p2.level, p2.times], ['pass', 1])
    })

    test('a search that lists more payments than are kept of it counts as a reading of each', async () => {
      const api = ticking(await service().newAccount(), service())
      await times(3, () => pay(api))
      await times(38, () => api.createPayment())
      await api.get('/v1/payments')
      await api.advance(10 * MINUTE)
      const [listed] = (await report(api, '?rule=C1')).findings
      assert.deepEqual([listed.level, listed.times], ['pass', 3])
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
  const rule = {
    id: 'P1',
    level: 'warn',
    title: 'T',
    sentence: 'S',
    advice: 'A',
    source: 'https://docs.example.org',
    lacking: 'L',
  } as const
  const mistake = new Error('a mistake in a rule')
  const faults: unknown[] = []
  const findings = await judgeAll(
    [
      {
        ...rule,
        judge: () => {
          throw mistake
        },
      },
      { ...rule, judge: () => ({ broken: [{ evidence: [], times: 1 }] }) },
    ],
    {} as never,
    error => faults.push(error),
  )
  assert.deepEqual(
    findings.map(({ level }) => level),
    ['not seen', 'warn'],
  )
  assert.match(findings[0]?.sentence ?? '', /^This rule is not judged: it failed/)
  assert.deepEqual(faults, [mistake])
})
