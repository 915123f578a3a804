import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { elementsOf, type Found, only, tagged, withId } from '../../hosted/document.ts'
import { type Console, enter } from '../../support/console.ts'
import { fillAccount } from '../../support/console-states.ts'
import { onEveryDatabase, onOneDatabase } from '../../support/service.ts'
import { receiving } from '../../support/subscriber.ts'

const signed = (body: string, key: string): string =>
  createHmac('sha256', key).update(body).digest('hex')

const KEY = 'webhook_test_prhkrb89l43v8bk43schrlpkdj'

type Answer = { status: number; text: string; elements: Found[] }

/** Sends the form as a browser does. */
async function compare(
  baseUrl: string,
  { cookie = '' }: Console,
  fields: Record<string, string>,
  file: Blob = new Blob([]),
): Promise<Answer> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', file, file.size > 0 ? 'body.json' : '')
  const response = await fetch(`${baseUrl}/console/signature`, {
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

onEveryDatabase(
  'The signature workbench',
  service => {
    test('offers the newest messages, and compares with the one that was picked what is entered', async t => {
      const { api, browser } = await enter(service())
      const shelf = await fillAccount(service(), api)
      t.after(shelf.close)
      const { failed, delivered, archive, ledger } = shelf
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
          { text: kept.replace('4650', '4651') },
          /The first byte that differs is byte \d+, counted from 0/,
        ],
        [
          { header: signed(JSON.stringify(delivered[0].body), ledger.signing_key) },
          /The header is the signature of \w{26}\./,
        ],
      ] as const) {
        const answer = await compare(service().baseUrl, browser, { ...given, ...fields })
        assert.equal(answer.status, 200, answer.text)
        assert.match(resultOf(answer), says)
      }
    })
  },
  receiving,
)

// What is compared comes from the form and one message, whose read the test above makes on every database.
onOneDatabase('What the signature workbench takes and says', service => {
  test('takes the body as a file, in base64 or as text, whose line ends the form may have changed', async () => {
    const { browser } = await enter(service())
    const lines = '{\n "a": 1\n}\n'
    const known = { key: KEY, header: signed(lines, KEY) }
    const typed = await compare(service().baseUrl, browser, {
      ...known,
      text: lines.replaceAll('\n', '\r\n'),
    })
    assert.match(resultOf(typed), /^Match It matches, with the line ends of the text as LF\./)
    const windows = lines.replaceAll('\n', '\r\n')
    const crlf = { ...known, header: signed(windows, KEY), text: windows }
    assert.match(
      resultOf(await compare(service().baseUrl, browser, crlf)),
      /^Match It matches, with CRLF at the ends/,
    )
    assert.match(
      resultOf(await compare(service().baseUrl, browser, known, new Blob([lines]))),
      /^Match/,
    )
    const bytes = Buffer.from([0xff, 0, 0xfe])
    const header = createHmac('sha256', KEY).update(bytes).digest('hex')
    for (const base64 of [bytes.toString('base64'), bytes.toString('base64url'), '/wD+\n'])
      assert.match(
        resultOf(await compare(service().baseUrl, browser, { ...known, header, base64 })),
        /^Match/,
      )
    assert.match(
      resultOf(await compare(service().baseUrl, browser, { ...known, header }, new Blob([bytes]))),
      /^Match/,
    )
  })

  test('lets another account compare although many comparisons of one account wait', async () => {
    const [{ browser: busy }, { browser: other }] = [await enter(service()), await enter(service())]
    const text = `[${'0,'.repeat(5_000)}0]`
    const ended: string[] = []
    const run = async (name: string, sent: Console) => {
      await compare(service().baseUrl, sent, { header: 'f'.repeat(64), key: 'a key', text })
      ended.push(name)
    }
    const many = Array.from({ length: 12 }, () => run('busy', busy))
    await Promise.all([...many, run('other', other)])
    assert.ok(ended.indexOf('other') < 6, `${ended}`)
  })

  test('shows a fault at its field, and never the secret that was entered', async () => {
    const { browser } = await enter(service())
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
      const { status, elements } = await compare(service().baseUrl, browser, fields)
      assert.equal(status, 400)
      only(elements, withId(`${field}-error`))
      assert.equal(elements.filter(withId('result')).length, 0, 'no verdict')
      assert.ok(!JSON.stringify(elements).includes(good.key), field)
    }
    const file = await compare(
      service().baseUrl,
      browser,
      { ...good, text: '' },
      new Blob(['x'.repeat(65_537)]),
    )
    assert.match(
      only(file.elements, withId('file-error')).text,
      /The body has 65,537 bytes: at most 65,536 are compared/,
    )
    const answer = await compare(service().baseUrl, browser, good)
    assert.match(resultOf(answer), /^No match/)
    assert.ok(!JSON.stringify(answer.elements).includes(good.key))
  })

  test('refuses forms of another type, damaged ones, those of other sites, and more than 256 KiB', async () => {
    const { browser } = await enter(service())
    const { cookie = '' } = browser
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
})
