import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { elementsOf, type Found, only, tagged, withId } from '../../hosted/document.ts'
import type { Console } from '../../support/console.ts'
import { signIn } from '../../support/console.ts'
import { fillAccount } from '../../support/console-states.ts'
import { ask } from '../../support/control.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving } from '../../support/subscriber.ts'

const signed = (body: string, key: string): string =>
  createHmac('sha256', key).update(body).digest('hex')

type Answer = { status: number; text: string; elements: Found[] }

onEveryDatabase(
  'The signature workbench',
  service => {
    const enter = async (t: TestContext) => {
      const { api } = await service().newNamedAccount()
      const shelf = await fillAccount(service(), api)
      t.after(shelf.close)
      return { api, ...shelf, browser: await signIn(service(), api) }
    }

    /** Sends the form as a browser does. */
    async function compare(
      { cookie = '' }: Console,
      fields: Record<string, string>,
      file: Blob = new Blob([]),
    ): Promise<Answer> {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      form.set('file', file, file.size > 0 ? 'body.json' : '')
      const response = await fetch(`${service().baseUrl}/console/signature`, {
        method: 'POST',
        body: form,
        headers: { Cookie: cookie },
        redirect: 'manual',
      })
      const elements = elementsOf(await response.text())
      const text = only(elements, tagged('main')).text.replace(/\s+/g, ' ').trim()
      return { status: response.status, elements, text }
    }

    const resultOf = ({ elements }: Answer): string =>
      only(elements, withId('result')).text.replace(/\s+/g, ' ').trim()

    test('offers the newest messages, and compares with the one that was picked what is entered', async t => {
      const { browser, failed, delivered, archive, ledger } = await enter(t)
      const [message] = failed
      const page = await browser.get(`signature?message=${message.webhook_message_id}`)
      const options = only(page.elements, withId('message')).inside.filter(tagged('option'))
      assert.ok(options.length > failed.length + delivered.length)
      const picked = options.filter(({ attributes }) => attributes.selected === '')
      assert.deepEqual(
        picked.map(({ attributes }) => attributes.value),
        [message.webhook_message_id],
      )

      const kept = JSON.stringify(message.body)
      const given = { message: message.webhook_message_id }
      for (const [fields, says] of [
        [
          { header: signed(kept, archive.signing_key) },
          /^Match It matches: the header is right\.$/,
        ],
        [{ text: kept, key: archive.signing_key }, /^No mistake found .*: key and body are right/],
        [{ base64: Buffer.from(kept).toString('base64') }, /^No mistake found .* body is right/],
        [
          { text: `${kept}\r\n` },
          /^No match .* the message with a newline at its end\..*express\.raw/,
        ],
        [
          { key: ledger.signing_key },
          /the key given is the signing key of Ledger feed, and the message is signed with the key of Archive/,
        ],
        [
          { computed: 'f'.repeat(64) },
          new RegExp(
            `no known mistake explains what your code computed\\. Most likely your receiver has another signing key\\. That of Archive has 39 characters and ends with ${archive.signing_key.slice(-4)}: .* Show the signing key Of Archive: ${archive.signing_key} Each webhook has a key of its own(?!.*express\\.raw)`,
          ),
        ],
        [
          { computed: signed(kept, `${archive.signing_key}\n`) },
          /what your code computed is made with the key with a newline at its end\./,
        ],
        [
          { computed: signed(JSON.stringify(message.body, null, 2), archive.signing_key) },
          /a library that indents by 2 spaces/,
        ],
        [
          { text: kept.replace('4650', '4651') },
          /The first byte that differs is byte \d+, counted from 0/,
        ],
        [
          { header: signed(JSON.stringify(delivered[0].body), ledger.signing_key) },
          /The header is the signature of \w{26}\./,
        ],
      ] as const) {
        const answer = await compare(browser, { ...given, ...fields })
        assert.equal(answer.status, 200, answer.text)
        assert.match(resultOf(answer), says)
      }
    })

    /** A message of which libraries print each part differently. */
    const cancelled = async ({ api, receivers }: Awaited<ReturnType<typeof enter>>) => {
      const { payment_id } = await api.createPayment({
        description: "Crème & £5 'x' +1",
        metadata: {},
      })
      await api.post(`/v1/payments/${payment_id}/cancel`)
      const { body = '' } = receivers[0]?.requests.at(-1) ?? {}
      return { body, message: JSON.parse(body).webhook_message_id }
    }

    test('names what was done to a message that was sent with each damage or with another key', async t => {
      const shelf = await enter(t)
      const { api, browser, ledger, archive, receivers } = shelf
      const { body: kept, message } = await cancelled(shelf)
      for (const [changed, says] of [
        [{ damage: 'digit' }, /no known mistake explains the header\. Key and body are right/],
        [{ damage: 'missing' }, /No known mistake: key and body are right/],
        [{ damage: 'upper' }, /the header is the signature in upper case\./],
        [{ damage: 'base64' }, /the header is the signature in base64\./],
        [{ damage: 'newline' }, /the header is made of the body with a newline at its end\./],
        [{ damage: 'space' }, /the body given is the message with a space at its end\./],
        [
          { signing_key: archive.signing_key },
          /the header is made with the key of Archive, and the message is signed with the key of Ledger feed\./,
        ],
        [
          { signing_key: `${ledger.signing_key}\n` },
          /the header is made with the key with a newline at its end\./,
        ],
      ] as const) {
        await ask(service(), api, `messages/${message}/send`, changed)
        const { headers, body = '' } = receivers[0]?.requests.at(-1) ?? {}
        const header = String(headers?.['pay-signature'] ?? '')
        const key = ledger.signing_key
        const got = { message, header, key, base64: Buffer.from(body).toString('base64') }
        // What the receiver computes of what it got gives no other answer, nor do body and key.
        for (const given of [got, { ...got, computed: signed(body, key) }]) {
          if (header === '' && 'computed' in given) continue
          const { status, text } = await compare(browser, given)
          assert.equal(status, 200, text)
          assert.match(text, says)
          assert.equal(text.match(/ and it is | and what your code/), null, text)
        }
        if (header !== '' && 'damage' in changed && !['space', 'digit'].includes(changed.damage))
          assert.match((await compare(browser, { message, header })).text, says)
      }
      const computed = signed(`${kept} `, ledger.signing_key)
      const { text } = await compare(browser, { message, computed })
      assert.match(text, /what your code computed is made of the body with a space at its end\./)
    })

    test('takes the body as a file, in base64 or as text, whose line ends the form may have changed', async t => {
      const { browser, archive } = await enter(t)
      const lines = '{\n "a": 1\n}\n'
      const known = { key: archive.signing_key, header: signed(lines, archive.signing_key) }
      const typed = await compare(browser, { ...known, text: lines.replaceAll('\n', '\r\n') })
      assert.match(resultOf(typed), /^Match It matches, with the line ends of the text as LF\./)
      const windows = lines.replaceAll('\n', '\r\n')
      const crlf = { ...known, header: signed(windows, archive.signing_key), text: windows }
      assert.match(
        resultOf(await compare(browser, crlf)),
        /^Match It matches, with CRLF at the ends/,
      )
      assert.match(resultOf(await compare(browser, known, new Blob([lines]))), /^Match/)
      const bytes = Buffer.from([0xff, 0, 0xfe])
      const header = createHmac('sha256', archive.signing_key).update(bytes).digest('hex')
      for (const base64 of [bytes.toString('base64'), bytes.toString('base64url'), '/wD+\n'])
        assert.match(resultOf(await compare(browser, { ...known, header, base64 })), /^Match/)
      assert.match(
        resultOf(await compare(browser, { ...known, header }, new Blob([bytes]))),
        /^Match/,
      )
    })

    test('shows a fault at its field, and never the secret that was entered', async () => {
      const { api } = await service().newNamedAccount()
      const browser = await signIn(service(), api)
      const good = { header: 'f', key: 'a secret of somebody', text: 'x' }
      for (const [fields, field] of [
        [{ ...good, key: '' }, 'key'],
        [{ ...good, header: '' }, 'header'],
        [{ ...good, base64: 'eA==' }, 'text'],
        [{ ...good, text: '', base64: '#' }, 'base64'],
        [{ ...good, message: 'unknown' }, 'message'],
        [{ ...good, text: `${'['.repeat(65)}${']'.repeat(65)}` }, 'text'],
        [{ ...good, text: '', base64: Buffer.alloc(65_537).toString('base64') }, 'base64'],
        [{ ...good, key: 'k'.repeat(1_025) }, 'key'],
        [{}, 'computed'],
      ] as const) {
        const { status, elements } = await compare(browser, fields)
        assert.equal(status, 400)
        only(elements, withId(`${field}-error`))
        assert.equal(elements.filter(withId('result')).length, 0, 'no verdict')
        assert.ok(!JSON.stringify(elements).includes(good.key), field)
      }
      const file = await compare(browser, { ...good, text: '' }, new Blob(['x'.repeat(65_537)]))
      assert.match(
        only(file.elements, withId('file-error')).text,
        /The body has 65,537 bytes: at most 65,536 are compared/,
      )
      const answer = await compare(browser, good)
      assert.match(resultOf(answer), /^No match/)
      assert.ok(!JSON.stringify(answer.elements).includes(good.key))
    })

    test('refuses forms of another type, damaged ones, those of other sites, and more than 256 KiB', async () => {
      const { api } = await service().newNamedAccount()
      const { cookie = '' } = await signIn(service(), api)
      const post = async (type: string, body: string, headers: Record<string, string> = {}) => {
        const { status } = await fetch(`${service().baseUrl}/console/signature`, {
          method: 'POST',
          body,
          redirect: 'manual',
          headers: { Cookie: cookie, 'Content-Type': type, ...headers },
        })
        return status
      }
      const type = 'multipart/form-data; boundary=b'
      const part = '--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nx\r\n--b--\r\n'
      assert.equal(await post(type, part), 400, 'a form without a secret')
      assert.equal(await post('application/x-www-form-urlencoded', 'text=x'), 415)
      assert.equal(await post('multipart/form-data', part), 400)
      assert.equal(await post(type, '--b\r\nunfinished'), 400)
      assert.equal(await post(type, part, { 'Sec-Fetch-Site': 'cross-site' }), 403)
      assert.equal(await post(type, part + 'x'.repeat(256 * 1024)), 413)
    })
  },
  receiving,
)
