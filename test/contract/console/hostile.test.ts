import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createNewId } from '../../../src/core/ids.ts'
import { createKey } from '../../../src/platform/accounts/store.ts'
import { pages } from '../../../src/tools/console/pages.ts'
import { findExchanges } from '../../../src/tools/record/store.ts'
import { HOSTILE, percentEncoded } from '../../faults/hostile-values.ts'
import { createAgreement } from '../../support/agreements.ts'
import { type Body, type Client, createClient } from '../../support/client.ts'
import { byId, consoleOf, enter, rowsOf, type Shown, signIn } from '../../support/console.ts'
import { addressesOf } from '../../support/console-pages.ts'
import { fillAccount } from '../../support/console-states.ts'
import { cancelledPayment, read } from '../../support/journeys.ts'
import type { Answer, Behaviour } from '../../support/receiver.ts'
import { flush } from '../../support/record.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history, receiving, subscribe } from '../../support/subscriber.ts'
import { holdAttempts } from '../../support/time.ts'

const TAGS =
  /^(html|head|meta|title|link|script|body|a|header|div|span|section|nav|button|ul|li|strong|form|main|h[1-4]|p|table|caption|thead|tbody|tr|th|td|time|code|bdi|dl|dt|dd|details|summary|pre|label|input|select|option|textarea|svg|path|footer|fieldset|legend|ol|em|br|wbr)$/
const ATTRIBUTES =
  /^(class|id|href|src|lang|charset|name|content|rel|type|sizes|data-[a-z-]+|role|aria-[a-z]+|tabindex|method|action|enctype|value|for|scope|colspan|datetime|hidden|open|selected|checked|spellcheck|title|autocomplete|inputmode|rows|xmlns|height|width|viewbox|focusable|d|draggable|novalidate)$/i

const ALL_HOSTILE = HOSTILE.join(' ')
/** The API takes no <, > and | in texts. */
const ACCEPTED = ALL_HOSTILE.replace(/[<>|]/g, '')

/** Fails for an element or an attribute that no page has, and for links that leave the console. */
function assertHarmless({ elements, html, status }: Shown, path: string): void {
  assert.equal(status, 200, path)
  for (const { tag, attributes, text } of elements) {
    assert.match(tag, TAGS, path)
    for (const [name, value] of Object.entries(attributes)) {
      assert.match(name, ATTRIBUTES, `${path}: ${tag}`)
      if (name === 'href' || name === 'src' || name === 'action')
        assert.match(value, /^(?![a-z][a-z0-9+.-]*:|\/\/)/i, `${path}: ${value}`)
    }
    if (tag === 'script') assert.equal(text, '', path)
  }
  const alone = /<bdi[^>]*>[^<]*<\/bdi>|<(pre|option|textarea|title)[^>]*>[^<]*<|value="[^"]*"/g
  const bare = html.replace(alone, '')
  assert.ok(!bare.includes('\u202e'), `${path}: a text that turns others stands alone`)
}

onEveryDatabase('The console', { ...receiving, control: true }, service => {
  async function pathsOf(room: string, api: Client): Promise<string[]> {
    const shown = { kinds: ['api', 'page', 'out'] } as const
    const part = { limit: 500, order: 'newest' } as const
    const exchanges = await findExchanges(service().database, room, shown, part)
    const webhooks: Body[] = (await api.get('/v1/webhooks')).body.results
    const messages = await Promise.all(webhooks.map(webhook => history(api, webhook)))
    const payments = new Set(exchanges.flatMap(({ payment_id }) => payment_id ?? []))
    return [
      ...exchanges.map(({ exchange_id }) => `requests/${exchange_id}`),
      ...[...payments].map(payment_id => `payments/${payment_id}`),
      ...webhooks.map(({ external_id }) => `webhooks/${external_id}`),
      ...messages.flat().map(message => `messages/${message.webhook_message_id}`),
      'requests',
      'requests?show=refused',
      'webhooks',
      'signature',
      'payments',
    ]
  }

  test('shows what others wrote as text, wherever it was recorded', async t => {
    const { database, time, baseUrls } = service()
    const name = '<b>"Team\' & co'
    const { key } = await createKey({ database, time, newId: createNewId() }, name)
    const api = createClient(baseUrls, key)
    const answer = `HTTP/1.1 500 ${HOSTILE[0]}\r\nX-Evil: ${HOSTILE[1]}\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${ALL_HOSTILE}`
    const behaviour: Behaviour = { onRequest: ({ socket }) => socket.end(answer) }
    await subscribe(t, api, { behaviour, description: ALL_HOSTILE.slice(0, 250) })
    const fields = {
      reference: ACCEPTED,
      description: ACCEPTED.slice(0, 255),
      metadata: { [ACCEPTED.slice(0, 30)]: ACCEPTED.slice(0, 90) },
    }
    const { payment_id } = await api.createPayment(fields, { 'User-Agent': HOSTILE[0] ?? '' })
    await api.post(`/v1/payments/${payment_id}/cancel`)
    const encoded = percentEncoded(ALL_HOSTILE)
    await api.get(`/v1/payments/${encoded}?${encoded}=${encoded}`)
    await api.get(`/v1/payments?${encoded}=1&reference=${encoded}`)
    await api.request('POST', '/v1/payments', {
      body: ALL_HOSTILE,
      headers: { 'Idempotency-Key': HOSTILE[1] ?? '', Accept: HOSTILE[2] ?? '' },
    })
    const browser = await signIn(service(), api)
    const paths = await pathsOf(name, api)
    assert.ok(paths.length > 10, paths.join(' '))
    for (const path of paths) assertHarmless(await browser.get(path), path)
    const [failed = ''] = paths.filter(path => path.startsWith('messages/'))
    const { text } = await browser.get(failed)
    assert.ok(text.includes(HOSTILE[0] ?? ''), 'the status line is shown')
    const faults = { callback_url: ALL_HOSTILE, description: ALL_HOSTILE }
    const faulty = await browser.post('webhooks/new/register', faults)
    assertHarmless({ ...faulty, status: 200 }, 'the form')
    const [script = ''] = HOSTILE
    const requests = new URLSearchParams({ operation: ALL_HOSTILE })
    assertHarmless(await browser.get(`requests?${requests}`), 'an unknown operation')
    const list = await browser.get(`payments?${new URLSearchParams({ q: script, status: script })}`)
    assertHarmless(list, 'the filter')
    assert.equal(byId(list, 'q').attributes.value, script)
  })

  test('shows the answers of receivers that are long, deep, broken or compressed', async t => {
    const bodies: [body: string | Buffer, headers?: Record<string, string>][] = [
      ['x'.repeat(65_536)],
      ['['.repeat(10_000)],
      [`{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`],
      [Buffer.from([0, 0xff, 0xed, 0xa0, 0x80, 0x0d, 0x0a])],
      [gzipSync('compressed'), { 'Content-Encoding': 'gzip' }],
    ]
    const answers: ((answer: Answer) => void)[] = [
      ...bodies.map(([body, headers]) => ({ response }: Answer) => {
        response.writeHead(500, headers).end(body)
      }),
      ({ socket }) => socket.write(`HTTP/1.1 500 x\r\n${'X-Y: z\r\n'.repeat(5_000)}`),
      ({ socket }) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
      ({ socket }) => socket.end('not HTTP at all\r\n\r\n'),
    ]
    const { api, name, browser } = await enter(service())
    const onRequest = (answer: Answer) => answers[Math.floor((answer.nth - 1) / 2)]?.(answer)
    await subscribe(t, api, { behaviour: { onRequest, hangs: true } })
    for (const _ of answers) {
      await cancelledPayment(api)
      service().clock.advance(5)
    }
    await flush(service())
    const paths = await pathsOf(name, api)
    assert.equal(paths.filter(path => path.startsWith('messages/')).length, answers.length)
    for (const path of paths) {
      const page = await browser.get(path)
      assertHarmless(page, path)
      assert.ok(page.html.length < 400_000, `${path}: ${page.html.length}`)
    }
  })

  test('shows one account nothing of another, at any address, byte for byte as for what does not exist', async t => {
    const { api, browser: owner } = await enter(service())
    holdAttempts(t)
    const shelf = await fillAccount(service(), api)
    t.after(shelf.close)
    const { api: stranger, browser: other } = await enter(service())
    await flush(service())
    const agreement = await createAgreement(api)
    const addressOf = await addressesOf(service(), api, { shelf, agreement })
    // `back` is a page for everybody: new-payment.test.ts.
    const ofOne = pages.map(({ path }) => path).filter(path => /^(?!back).*\{/.test(path))
    const ids = ofOne.map(addressOf)
    assert.ok(ids.length >= 5)
    const unknownOf = (path: string) => path.replace(/[0-9a-v]{26}/, '0'.repeat(26))
    const [message = ''] = ids.filter(path => path.startsWith('messages/'))
    const paths = [...ids, `signature?message=${message.split('/')[1]}`]
    for (const path of paths) {
      assert.equal((await owner.get(path)).status, 200, path)
      const [theirs, unknown] = [await other.get(path), await other.get(unknownOf(path))]
      assert.equal(theirs.status, path.startsWith('signature') ? 200 : 404, path)
      assert.equal(theirs.html, unknown.html, path)
      const { status, location } = await consoleOf(service()).get(path)
      assert.deepEqual([status, location?.split('?')[0]], [303, 'sign-in'], path)
    }
    const count = () => shelf.receivers.reduce((sum, { requests }) => sum + requests.length, 0)
    const open = await api.createPayment()
    const before = count()
    for (const [path, fields] of [
      [`${message}/send`, {}],
      [`payments/${open.payment_id}/complete`, { scenario: 'success' }],
      [`payments/${open.payment_id}/cancel`, {}],
      [`payments/${open.payment_id}/capture`, {}],
      [`payments/${shelf.paid.payment_id}/refund`, { amount: '1' }],
    ] as const) {
      const theirs = await other.post(path, fields)
      assert.equal(theirs.status, 404, path)
      assert.equal(theirs.html, (await other.post(unknownOf(path), fields)).html, path)
    }
    assert.deepEqual([count(), (await read(api, open)).state.status], [before, 'created'])

    const { payment_id } = shelf.paid
    for (const q of [payment_id, 'R-success']) {
      const found = await other.get(`payments?q=${q}`)
      const nothing = await other.get(`payments?q=${'0'.repeat(q.length)}`)
      assert.equal(found.status, nothing.status, q)
      assert.deepEqual(rowsOf(found), [], q)
    }
    for (const list of ['requests', 'requests?show=refused', 'payments']) {
      const { status, html } = await other.get(list)
      assert.equal(status, 200, list)
      assert.ok(!html.includes('R-success') && !html.includes(payment_id), list)
    }
    await stranger.post('/v1/webhooks', { callback_url: 'https://localhost:1/' })
    const webhook = shelf.archive.external_id
    assert.deepEqual(rowsOf(await other.get(`deliveries?webhook=${webhook}`)), [])
    assert.equal((await other.post('deliveries/resend', { webhook })).done, 'none-failed')
  })
})
