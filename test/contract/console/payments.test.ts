import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newAccount } from '../../../src/core/account.ts'
import { createNewId } from '../../../src/core/ids.ts'
import { insertPayment } from '../../../src/pay/payments/store.ts'
import { findPayments } from '../../../src/tools/lists/find-payments-store.ts'
import { byId, columnOf, enter, linkIn, rowsOf, signIn } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import { samplePayment } from '../../support/sample-payment.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, history, receiving, subscribe } from '../../support/subscriber.ts'
import { watched } from '../../support/watched.ts'

onEveryDatabase('The list of payments in the console', { ...receiving, control: true }, service => {
  test('shows each payment with its status and what its webhooks said', async t => {
    const { api, browser } = await enter(service())
    const now = () => new Date(service().clock.now()).toISOString().slice(11, 19)
    const before = now()
    await api.createPayment({ reference: 'BEFORE', amount: 1450 })
    // Two instances order the payments of one millisecond by chance.
    service().clock.advance(1)
    await subscribe(t, api)
    const broken = await subscribe(t, api, { behaviour: { onRequest: answering(500) } })
    const { payment_id } = await cancelledPayment(api, { reference: 'R & "b"' })
    const page = await browser.get('payments')
    const [newer, older] = rowsOf(page)
    assert.deepEqual(older, ['BEFORE', '£14.50', 'created', 'none', '', before])
    const said = '1 failed, 1 delivered'
    assert.deepEqual(newer, ['R & "b"', '£46.50', 'cancelled', said, '', now()])
    const [message] = await history(api, broken.webhook)
    assert.equal(linkIn(page, '1 failed'), `messages/${message?.external_id}`)
    assert.equal(linkIn(page, 'R & "b"'), `payments/${payment_id}`)
    assert.deepEqual(columnOf(await browser.get('payments?status=cancelled')), ['R & "b"'])
  })

  test('an identifier opens its page, in any case', async t => {
    const { api, browser } = await enter(service())
    const { webhook } = await subscribe(t, api)
    const made = await browser.post('payments/new/create', { ready: 'refunded' })
    const payment = made.location ?? ''
    const { body } = await api.get(`/v1/${payment}/refunds`)
    const [message = {}] = await history(api, webhook)
    const [, request] =
      /requests\/(\w{26})"/.exec((await browser.get('requests')).html.replace('before', '')) ?? []
    for (const [id = '', page] of [
      [payment.slice(9), payment],
      [body._embedded.refunds[0].refund_id, payment],
      [message.external_id, `messages/${message.external_id}`],
      [webhook.external_id, `webhooks/${webhook.external_id}`],
      [request, `requests/${request}`],
    ])
      for (const typed of [id, ` ${id.toUpperCase()} `]) {
        const opened = await browser.get(`payments?q=${encodeURIComponent(typed)}`)
        assert.deepEqual([opened.status, opened.location], [303, page])
      }
    const other = await signIn(service(), await service().newAccount())
    for (const id of [payment.slice(9), message.external_id, webhook.external_id, request])
      assert.equal((await other.get(`payments?q=${id}`)).status, 200, 'of another account')
  })

  test('one field finds references, parts of them, email addresses, metadata and amounts', async () => {
    const { api, browser } = await enter(service())
    const metadata = { ledger: 'code-7', paid: true }
    const [one, two, three, four] = ['Pitch 7 È', 'pitch 71', 'The pitch 7777', 'v77.77%_\\']
    for (const fields of [
      { reference: one, amount: 7_777, email: 'Ann@Market.example', metadata },
      { reference: two, amount: 777_700, description: 'ledger', metadata: { a: 'code-7' } },
      { reference: three, metadata: { ledger: 'code-71' }, email: 'bob@shop.example' },
      { reference: four, amount: 100 },
    ]) {
      service().clock.advance(1)
      await api.createPayment(fields)
    }
    for (const [q, references] of [
      ['pitch 7 è', [one]],
      ['pitch 7', [three, two, one]],
      ['ITCH 7', [three, two, one]],
      ['71', [two]],
      ['7777', [three]],
      ['77.77', [one]],
      ['£77.77', [one]],
      ['£7,777', [two]],
      ['£1', [four]],
      ['%_\\', [four]],
      ['v77.', [four]],
      ['market.EXAMPLE', []],
      ['@market.EXAMPLE', [one]],
      ['metadata.ledger=code-7', [one]],
      ['metadata.ledger=code-71', [three]],
      ['metadata.paid=true', [one]],
      ['metadata.a=code-7', [two]],
      ['metadata.reference=pitch 71', []],
    ] as const) {
      const page = await browser.get(`payments?q=${encodeURIComponent(q)}`)
      assert.deepEqual(columnOf(page), references, q)
      if (references.length > 0) assert.match(page.text, /among the newest 10,000/, q)
      else assert.match(page.text, /no results .* Searched: .* The field understands/)
    }
    const filtered = await browser.get('payments?q=pitch&status=success')
    assert.match(filtered.text, /Searched: references with pitch, status success\./)
  })

  test('a search by metadata reads 500 bodies at a time, in either order, until it has what it looks for', async () => {
    const { name: room } = await service().namedAccount()
    const now = service().clock.now()
    const newId = createNewId()
    const payments = Array.from({ length: 1_100 }, (_, i) => {
      const metadata = { even: i % 550 === 0 ? 'yes' : 'no' }
      return samplePayment('created', { metadata }, { payment_id: newId(now - 2_000 + i), room })
    })
    await service().database.write(payments.map(insertPayment))
    const wanted = [payments[0]?.payment_id, payments[550]?.payment_id]
    for (const [order, limit, expected, steps] of [
      ['newest', 50, wanted.toReversed(), 3],
      ['oldest', 50, wanted, 3],
      ['newest', 1, wanted.slice(1), 2],
      ['oldest', 1, wanted.slice(0, 1), 1],
    ] as const) {
      // One query for the oldest payment that is looked at, and in each step one for its edge and one for its bodies.
      let queries = 0
      const database = watched(service().database, () => void queries++)
      const sought = { by: 'metadata', name: 'even', value: 'yes' } as const
      const search = { account: newAccount(room), now, filter: { sought } }
      const found = await findPayments(database, search, {}, { limit, order })
      const ids = found.map(({ payment_id }) => payment_id)
      assert.deepEqual([ids, queries], [expected, 1 + 2 * steps])
    }
  })

  test('status, from and to narrow the list, and a time that cannot be read is said at its field', async () => {
    const api = await service().newAccount()
    const midnight = Date.parse('2026-10-01T00:00:00Z')
    const at = async (ms: number, reference: string) => {
      service().clock.advance(ms - service().clock.now())
      return api.createPayment({ reference })
    }
    const early = await at(midnight - 1, 'early')
    await at(midnight, 'morning')
    await at(midnight + 50_000, 'same minute')
    await at(midnight + 3_600_000, 'later')
    await api.post(`/v1/payments/${early.payment_id}/cancel`)
    const browser = await signIn(service(), api)
    for (const [query, references] of [
      ['from=2026-10-01', ['later', 'same minute', 'morning']],
      ['to=2026-09-30', ['early']],
      ['to=30/9/2026', ['early']],
      ['to=30+09+2026+23:59', ['early']],
      ['from=today', ['later', 'same minute', 'morning']],
      ['from=Yesterday&to=yesterday', ['early']],
      ['from=00:00&to=0:00', ['same minute', 'morning']],
      ['from=2026-10-01+01:00', ['later']],
      ['to=2026-09-30T23:59:59.999Z', ['early']],
      ['to=2026-09-30T23:59:59.998Z', []],
      ['from=2026-09-30&status=cancelled', ['early']],
      ['from=2026-10-01&q=m', ['same minute', 'morning']],
    ] as const)
      assert.deepEqual(columnOf(await browser.get(`payments?${query}`)), references, query)
    const error =
      'Error: Enter a day such as 14/09/2026, 2026-09-14, today or yesterday, a time such as 08:20, or both'
    for (const wrong of ['tomorrow', '31/02/2026', '2026-02-30', '25:00', '2026-13-01 08:20']) {
      const page = await browser.get(`payments?from=${wrong}&to=08:20`)
      assert.deepEqual([page.status, byId(page, 'from-error').text], [400, error], wrong)
      assert.equal(byId(page, 'from').attributes.value, wrong)
    }
  })

  test('what is refunded is said beside the status, and found by it', async () => {
    const { api, browser } = await enter(service())
    const made: string[] = []
    const refund = { amount: 1450, scenario: 'error' }
    await ask(service(), api, 'payments', { reference: 'CONSOLE-0', scenario: 'success', refund })
    for (const amount of ['5.50', '14.50', '']) {
      service().clock.advance(1_000)
      const { location = '' } = await browser.post('payments/new/create', { ready: 'paid' })
      if (amount) await browser.post(`${location}/refund`, { amount })
      made.push((await browser.get(location)).text)
    }
    assert.match(made[0] ?? '', /success .*£5\.50 of £14\.50 submitted as a refund/)
    service().clock.advance(5_000)
    const texts = ['success £14.50 refunded', 'success £5.50 of £14.50 refunded']
    const statuses = async (query: string) => columnOf(await browser.get(`payments${query}`), 2)
    assert.deepEqual(await statuses(''), ['success', ...texts, 'success'], 'one refund failed')
    assert.deepEqual(await statuses('?status=refunded'), texts)
    assert.deepEqual(await statuses('?status=refunded&q=CONSOLE'), texts)
    assert.deepEqual(await statuses('?status=refunded&q=none'), [])
  })

  test('any query is answered', async () => {
    const { browser } = await enter(service())
    const terms = ['0'.repeat(26), 'metadata.=', '@', '%00', '%ff&q=x'].map(term => `q=${term}`)
    const others = ['status=x', 'before=%00', 'after=é', '__proto__=x&constructor=y']
    for (const query of [...terms, ...others])
      assert.equal((await browser.get(`payments?${query}`)).status, 200, query)
  })

  test('Older and Newer lead through all payments, fifty at a time, and say how many there are', async () => {
    const { api, browser } = await enter(service())
    for (let i = 0; i < 101; i++) {
      service().clock.advance(8)
      await api.createPayment({ reference: `N-${i}` })
    }
    const first = await browser.get('payments')
    const second = await browser.get(linkIn(first, 'Older'))
    const third = await browser.get(linkIn(second, 'Older'))
    const all = Array.from({ length: 101 }, (_, i) => `N-${100 - i}`)
    assert.deepEqual(columnOf(first), all.slice(0, 50))
    assert.deepEqual(columnOf(second), all.slice(50, 100))
    assert.deepEqual(columnOf(third), ['N-0'])
    assert.match(first.text, /1 to 50 of 101 payments/)
    assert.match(second.text, /51 to 100 of 101 payments/)
    assert.deepEqual([linkIn(first, 'Newer'), linkIn(third, 'Older')], ['', ''])
    const back = await browser.get(linkIn(third, 'Newer'))
    assert.deepEqual(columnOf(back), columnOf(second))
    assert.deepEqual(columnOf(await browser.get(linkIn(back, 'Newer'))), columnOf(first))
  })
})
