import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Found, tagged } from '../../hosted/document.ts'
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

    test('an identifier opens its payment, anything else is a whole reference in any case', async () => {
      const { api, browser } = await withConsole()
      const { payment_id } = await api.createPayment({ reference: 'Pitch 7 È' })
      await api.createPayment({ reference: 'Pitch 71' })
      const opened = await browser.get(`payments?q=${payment_id}`)
      assert.deepEqual([opened.status, opened.location], [303, `payments/${payment_id}`])
      const found = await browser.get(`payments?q=${encodeURIComponent(' pitch 7 è ')}`)
      assert.deepEqual(
        rowsOf(found).map(([reference]) => reference),
        ['Pitch 7 È'],
      )
      for (const query of [
        'q=pitch',
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

    test('newer.json counts what a list does not show yet, of this account only', async () => {
      const { api, browser } = await withConsole()
      const newer = async (query: string) => {
        const { status, html } = await browser.get(`newer.json?${query}`)
        return status === 200 ? JSON.parse(html).newer : status
      }
      assert.equal(await newer('list=payments&after='), 0)
      const { payment_id } = await api.createPayment()
      service().clock.advance(8)
      await api.createPayment()
      const other = await service().newAccount()
      await other.createPayment()
      assert.equal(await newer('list=payments&after='), 2)
      assert.equal(await newer(`list=payments&after=${payment_id}`), 1)
      assert.equal(await newer('list=requests&after='), 2)
      for (const list of ['', 'payments&list=requests', 'webhook:x', `webhook:${payment_id}`])
        assert.equal(await newer(`list=${list}&after=`), 404, list)
      assert.equal((await consoleOf(service()).get('newer.json?list=payments')).status, 303)
    })
  },
  receiving,
)
