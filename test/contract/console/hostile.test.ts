import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createKey } from '../../../src/accounts/store.ts'
import { createNewId } from '../../../src/ids.ts'
import { findExchanges } from '../../../src/recorder/store.ts'
import { percentEncoded } from '../../faults/hostile-values.ts'
import { type Client, createClient } from '../../support/client.ts'
import { type Console, consoleOf, type Shown, signIn } from '../../support/console.ts'
import { fillAccount } from '../../support/console-states.ts'
import { type Answer, startReceiver } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { history, receiving } from '../../support/subscriber.ts'

const HOSTILE = [
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</pre></textarea></title><svg onload=alert(1)>',
  '\u202egnp.exe\u2066',
  '{{7*7}} <!--',
  'javascript:alert(1)',
  '&lt;b&gt; &#0; &quot;',
]
const ALL = HOSTILE.join(' ')
/** The API takes no <, > and | in texts. */
const ACCEPTED = ALL.replace(/[<>|]/g, '')

const TAGS = new Set(
  'html head meta title link script body a header div span section nav button ul li strong form main h1 h2 h3 h4 p table caption thead tbody tr th td time code bdi dl dt dd details summary pre label input select option textarea svg path footer fieldset legend ol em'.split(
    ' ',
  ),
)
const ATTRIBUTES =
  /^(class|id|href|src|lang|charset|name|content|rel|type|sizes|data-[a-z-]+|role|aria-[a-z]+|tabindex|method|action|enctype|value|for|scope|colspan|datetime|hidden|open|selected|checked|spellcheck|autocomplete|inputmode|rows|xmlns|height|width|viewbox|focusable|d|draggable|novalidate)$/i

/** Fails for an element or an attribute that no page has, and for links that leave the console. */
function assertHarmless({ elements, html, status }: Shown, path: string): void {
  assert.equal(status, 200, path)
  for (const { tag, attributes, text } of elements) {
    assert.ok(TAGS.has(tag), `${path}: ${tag}`)
    for (const [name, value] of Object.entries(attributes)) {
      assert.match(name, ATTRIBUTES, `${path}: ${tag}`)
      if (name === 'href' || name === 'src' || name === 'action')
        assert.match(value, /^(?![a-z][a-z0-9+.-]*:|\/\/)/i, `${path}: ${value}`)
    }
    if (tag === 'script') assert.equal(text, '', path)
  }
  const shown = elements.filter(({ text, tag }) => tag === 'bdi' && text.includes('\u202e'))
  const bare = html.replace(
    /<bdi[^>]*>[^<]*<\/bdi>|<(pre|option|textarea|title)[^>]*>[^<]*<|value="[^"]*"/g,
    '',
  )
  assert.ok(
    !bare.includes('\u202e'),
    `${path}: a text that turns others stands alone (${shown.length})`,
  )
}

onEveryDatabase(
  'The console',
  service => {
    /** Every page that shows one thing of the account, and the lists. */
    async function pathsOf(room: string, api: Client): Promise<string[]> {
      const exchanges = await findExchanges(
        ...([service().database, room, { kinds: ['api', 'page', 'out'] }] as const),
        { limit: 500, order: 'newest' },
      )
      const { body } = await api.get('/v1/webhooks')
      const webhooks: string[] = body.results.map(
        (each: { external_id: string }) => each.external_id,
      )
      const messages = await Promise.all(
        body.results.map((webhook: object) => history(api, webhook)),
      )
      return [
        ...exchanges.map(({ exchange_id }) => `requests/${exchange_id}`),
        ...webhooks.map(id => `webhooks/${id}`),
        ...messages.flat().map(message => `messages/${message.webhook_message_id}`),
        ...['requests', 'requests?show=refused', 'webhooks', 'signature', 'payments'],
      ]
    }
    const flush = async () => {
      for (const { recorder } of service().apps) await recorder?.flush()
    }

    test('shows what others wrote as text, wherever it was recorded', async t => {
      const { database, time, baseUrls } = service()
      const { key } = await createKey({ database, time, newId: createNewId() }, '<b>"Team\' & co')
      const api = createClient(baseUrls, key)
      const receiver = await startReceiver({
        onRequest: ({ socket }) =>
          socket.end(
            `HTTP/1.1 500 ${HOSTILE[0]}\r\nX-Evil: ${HOSTILE[1]}\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${ALL}`,
          ),
      })
      t.after(() => receiver.close())
      const description = ALL.slice(0, 250)
      await api.post('/v1/webhooks', { callback_url: receiver.url, description })
      const payment = await api.createPayment(
        {
          reference: ACCEPTED,
          description: ACCEPTED.slice(0, 255),
          metadata: { [ACCEPTED.slice(0, 30)]: ACCEPTED.slice(0, 90) },
        },
        { 'User-Agent': HOSTILE[0] ?? '' },
      )
      await api.post(`/v1/payments/${payment.payment_id}/cancel`)
      await api.get(
        `/v1/payments/${percentEncoded(ALL)}?${percentEncoded(ALL)}=${percentEncoded(ALL)}`,
      )
      await api.get(`/v1/payments?${percentEncoded(ALL)}=1&reference=${percentEncoded(ALL)}`)
      await api.request('POST', '/v1/payments', {
        body: ALL,
        headers: { 'Idempotency-Key': HOSTILE[1] ?? '', Accept: HOSTILE[2] ?? '' },
      })
      await flush()
      const browser = await signIn(service(), api)
      const [account] = await database.query<{ room: string }>(
        'select room from accounts where name = $1',
        ['<b>"Team\' & co'],
      )
      const paths = await pathsOf(account?.room ?? '', api)
      assert.ok(paths.length > 10, paths.join(' '))
      for (const path of paths) assertHarmless(await browser.get(path), path)
      const [failed = ''] = paths.filter(path => path.startsWith('messages/'))
      const { text } = await browser.get(failed)
      assert.ok(text.includes(HOSTILE[0] ?? ''), 'the status line is shown')
      const faulty = await browser.post(`${failed}/send`, { body: ALL, to: ALL, times: ALL })
      assertHarmless({ ...faulty, status: 200 }, 'the form')
    })

    test('shows the answers of receivers that are long, deep, broken or compressed', async t => {
      const answers: ((answer: Answer) => void)[] = [
        ({ response }) => response.writeHead(500).end('x'.repeat(65_536)),
        ({ response }) => response.writeHead(500).end('['.repeat(10_000)),
        ({ response }) =>
          response.writeHead(500).end(`{"a":${'['.repeat(3_000)}${']'.repeat(3_000)}}`),
        ({ response }) =>
          response.writeHead(500).end(Buffer.from([0, 0xff, 0xed, 0xa0, 0x80, 0x0d, 0x0a])),
        ({ response }) =>
          response.writeHead(500, { 'Content-Encoding': 'gzip' }).end(gzipSync('compressed')),
        ({ socket }) => socket.write(`HTTP/1.1 500 x\r\n${'X-Y: z\r\n'.repeat(5_000)}`),
        ({ socket }) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
        ({ socket }) => socket.end('not HTTP at all\r\n\r\n'),
      ]
      const receiver = await startReceiver({
        onRequest: answer => answers[Math.floor((answer.nth - 1) / 2) % answers.length]?.(answer),
      })
      t.after(() => receiver.close())
      const { api, name } = await service().newNamedAccount()
      await api.post('/v1/webhooks', { callback_url: receiver.url })
      for (const _ of answers) {
        const { payment_id } = await api.createPayment()
        await api.post(`/v1/payments/${payment_id}/cancel`)
        service().clock.advance(5)
      }
      await flush()
      const browser = await signIn(service(), api)
      const paths = await pathsOf(name, api)
      assert.equal(paths.filter(path => path.startsWith('messages/')).length, answers.length)
      for (const path of paths) {
        const page = await browser.get(path)
        assertHarmless(page, path)
        assert.ok(page.html.length < 400_000, `${path}: ${page.html.length}`)
      }
    })

    test('shows one account nothing of another, at any address, byte for byte as for what does not exist', async t => {
      const { api, name } = await service().newNamedAccount()
      const shelf = await fillAccount(service(), api)
      t.after(shelf.close)
      const owner = await signIn(service(), api)
      const other = await signIn(service(), await service().newAccount())
      await flush()
      const ids = (await pathsOf(name, api)).filter(path => path.includes('/'))
      const unknownOf = (path: string) => path.replace(/[0-9a-v]{26}/, '0'.repeat(26))
      const [message = ''] = ids.filter(path => path.startsWith('messages/'))
      const [webhook = ''] = ids.filter(path => path.startsWith('webhooks/'))
      const paths = [
        ...ids,
        `signature?message=${message.split('/')[1]}`,
        `newer.json?list=webhook:${webhook.split('/')[1]}&after=`,
      ]
      for (const path of paths) {
        assert.equal((await owner.get(path)).status, 200, path)
        const [theirs, unknown] = [await other.get(path), await other.get(unknownOf(path))]
        assert.equal(theirs.status, path.startsWith('signature') ? 200 : 404, path)
        assert.equal(theirs.html, unknown.html, path)
        const { status, location } = await consoleOf(service()).get(path)
        assert.deepEqual([status, location?.split('?')[0]], [303, 'sign-in'], path)
      }
      const count = () => shelf.receivers.reduce((sum, { requests }) => sum + requests.length, 0)
      const before = count()
      const sent = await posted(other, `${message}/send`)
      assert.deepEqual(sent, await posted(other, `${unknownOf(message)}/send`))
      assert.equal(sent.status, 404)
      assert.equal(count(), before)
    })

    const posted = async (browser: Console, path: string) => {
      const { status, html } = await browser.post(path)
      return { status, html }
    }
  },
  receiving,
)
