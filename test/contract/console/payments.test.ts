import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Found, only, tagged } from '../../hosted/document.ts'
import type { Client } from '../../support/client.ts'
import { type Console, consoleOf, type Shown, signIn } from '../../support/console.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, receiving, subscribe } from '../../support/subscriber.ts'

/** The texts of the cells, row by row. */
const rowsOf = ({ elements }: Shown): string[][] => {
  const [body] = elements.filter(tagged('tbody'))
  return (body?.inside ?? [])
    .filter(tagged('tr'))
    .map(row => row.inside.filter(({ tag }) => tag === 'th' || tag === 'td').map(textOf))
}

const textOf = ({ text }: Found): string => text.replace(/\s+/g, ' ').trim()

const linkIn = ({ elements }: Shown, text: string): string => {
  const link = elements.find(each => each.tag === 'a' && textOf(each) === text)
  return link?.attributes.href ?? ''
}

onEveryDatabase(
  'The list of payments in the console',
  service => {
    const withConsole = async (): Promise<{ api: Client; browser: Console }> => {
      const api = await service().newAccount()
      return { api, browser: await signIn(service(), api) }
    }

    test('an account without payments is told how to make one', async () => {
      const { browser } = await withConsole()
      const { text, elements } = await browser.get('payments')
      assert.match(text, /There are no payments in the last 7 days/)
      const command = elements.find(tagged('pre'))?.text ?? ''
      assert.match(
        command,
        /^\s*curl -s http\S+\/v1\/payments -H "Authorization: Bearer \$FARTHING_API_KEY"/,
      )
    })

    test('shows each payment with its status and what its webhooks said', async t => {
      const { api, browser } = await withConsole()
      const now = () => new Date(service().clock.now()).toISOString()
      const before = now()
      await api.createPayment({ reference: 'BEFORE', amount: 1450 })
      // Two instances order the payments of one millisecond by chance.
      service().clock.advance(1)
      await subscribe(t, api)
      const broken = await subscribe(t, api, {
        behaviour: { onRequest: answering(500) },
      })
      const { payment_id } = await api.createPayment({ reference: 'R & "b"' })
      await api.post(`/v1/payments/${payment_id}/cancel`)
      const page = await browser.get('payments')
      const [newer, older] = rowsOf(page)
      assert.deepEqual(older, ['BEFORE', '£14.50', 'created', 'none', '', before])
      assert.deepEqual(newer, [
        'R & "b"',
        '£46.50',
        'cancelled',
        '1 failed, 1 delivered',
        '',
        now(),
      ])
      const messages = await api.get(`/v1/webhooks/${broken.webhook.external_id}/messages`)
      const [message] = messages.body.results
      assert.equal(linkIn(page, '1 failed'), `messages/${message.external_id}`)
      assert.equal(linkIn(page, 'R & "b"'), `payments/${payment_id}`)
      const failed = await browser.get('payments?status=cancelled')
      assert.deepEqual(
        rowsOf(failed).map(([reference]) => reference),
        ['R & "b"'],
      )
    })

    test('an identifier opens its payment, anything else is a reference or a part of one, in any case', async () => {
      const { api, browser } = await withConsole()
      const { payment_id } = await api.createPayment({ reference: 'Pitch 7 È' })
      await api.createPayment({ reference: 'Pitch 71' })
      for (const id of [payment_id, payment_id.toUpperCase()]) {
        const opened = await browser.get(`payments?q=${id}`)
        assert.deepEqual([opened.status, opened.location], [303, `payments/${payment_id}`])
      }
      const found = await browser.get(`payments?q=${encodeURIComponent(' pitch 7 è ')}`)
      assert.deepEqual(
        rowsOf(found).map(([reference]) => reference),
        ['Pitch 7 È'],
      )
      for (const [part, references] of [
        ['ITCH 7', ['Pitch 71', 'Pitch 7 È']],
        ['71', ['Pitch 71']],
      ] as const) {
        const page = await browser.get(`payments?q=${part}`)
        const shown = rowsOf(page).map(([reference]) => reference)
        assert.deepEqual(shown.toSorted(), references.toSorted(), part)
        assert.match(page.text, /looked for among the newest 10,000 payments/)
      }
      for (const query of [
        'q=pitch_7',
        'q=%25',
        `q=${'0'.repeat(26)}`,
        'q=Pitch+71&status=success',
        'status=x',
      ]) {
        const { text, status } = await browser.get(`payments?${query}`)
        assert.equal(status, 200)
        assert.match(text, /There are no results for the filters you used\./, query)
        assert.match(text, /The API searches by more/)
      }
      for (const query of [
        'q=%00',
        'q=%ff&q=x',
        'before=%00',
        'after=é',
        '__proto__=x&constructor=y',
      ])
        assert.equal((await browser.get(`payments?${query}`)).status, 200, query)
    })

    test('Older and Newer lead through all payments, fifty at a time, and nothing is counted', async () => {
      const { api, browser } = await withConsole()
      for (let i = 0; i < 101; i++) {
        service().clock.advance(8)
        await api.createPayment({ reference: `N-${i}` })
      }
      const references = (page: Shown) => rowsOf(page).map(([reference]) => reference)
      const first = await browser.get('payments')
      assert.deepEqual([references(first)[0], references(first).length], ['N-100', 50])
      assert.equal(linkIn(first, 'Newer'), '')
      const second = await browser.get(linkIn(first, 'Older'))
      const third = await browser.get(linkIn(second, 'Older'))
      assert.deepEqual(references(third), ['N-0'])
      assert.equal(linkIn(third, 'Older'), '')
      const back = await browser.get(linkIn(third, 'Newer'))
      assert.deepEqual(references(back), references(second))
      assert.deepEqual(references(await browser.get(linkIn(back, 'Newer'))), references(first))
    })

    test('newer.json knows what a page does not show yet, or shows otherwise, of this account only', async () => {
      const { api, browser } = await withConsole()
      const ask = async (query: string) => {
        const { status, html } = await browser.get(`newer.json?${query}`)
        return status === 200 ? JSON.parse(html) : { status }
      }
      assert.equal((await ask('list=payments')).newer, 0)
      const { payment_id } = await api.createPayment({ reference: 'R-one' })
      service().clock.advance(8)
      await api.createPayment()
      const other = await service().newAccount()
      await other.createPayment()
      assert.equal((await ask('list=payments')).newer, 2)
      assert.equal((await ask(`list=payments&newest=${payment_id}`)).newer, 1)
      assert.equal((await ask('list=payments&q=r-ONE')).newer, 1)
      assert.equal((await ask('list=requests')).newer, 2)
      assert.equal((await ask('list=requests&operation=cancelPayment')).newer, 0)
      for (const list of [
        '',
        'toString',
        'webhook:x',
        `webhook:${payment_id}`,
        'payment:',
        'message:x',
      ])
        assert.equal((await ask(`list=${list}`)).status, 404, list)
      assert.equal((await consoleOf(service()).get('newer.json?list=payments')).status, 303)
    })

    test('the version of every page changes with what the page shows, whatever its filter, and not by itself', async t => {
      const { api, browser } = await withConsole()
      const { webhook } = await subscribe(t, api)
      const declined = async () => {
        const payment = await api.createPayment({ reference: 'R-live' })
        await browser.post(`payments/${payment.payment_id}/complete`, { scenario: 'declined' })
        return payment
      }
      await declined()
      const { payment_id } = await api.createPayment({ reference: 'R-live' })
      const { body } = await api.get(`/v1/webhooks/${webhook.external_id}/messages`)
      const pages = [
        'payments',
        'payments?status=created',
        'payments?status=error&q=r-live',
        `payments/${payment_id}`,
        'requests',
        'requests?operation=readPayment',
        'webhooks',
        `webhooks/${webhook.external_id}`,
        `webhooks/${webhook.external_id}?delivery=SUCCESSFUL`,
      ]
      const noticeOf = async (path: string) => {
        const { elements } = await browser.get(path)
        const { attributes } = only(elements, each => 'data-live' in each.attributes)
        const url = new URL(attributes['data-live'] ?? '', `http://x/console/${path}`)
        const ask = async () => JSON.parse((await browser.get(url.href.slice(17))).html)
        return { ask, version: attributes['data-version'] }
      }
      const notices = await Promise.all(pages.map(noticeOf))
      const changed = () =>
        Promise.all(notices.map(async ({ ask, version }) => (await ask()).version !== version))
      assert.deepEqual(
        await changed(),
        pages.map(() => false),
      )
      service().clock.advance(8)
      await browser.post(`payments/${payment_id}/complete`, { scenario: 'error' })
      await api.get(`/v1/payments/${payment_id}`)
      assert.deepEqual(
        await changed(),
        pages.map(() => true),
      )
      const message = `messages/${body.results[0].external_id}`
      const { ask, version } = await noticeOf(message)
      assert.equal((await ask()).version, version)
      service().clock.advance(8)
      await browser.post(`${message}/send`)
      assert.notEqual((await ask()).version, version)
    })
  },
  receiving,
)
