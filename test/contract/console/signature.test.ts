import assert from 'node:assert/strict'
import { test } from 'node:test'
import { only, tagged, withId } from '../../hosted/document.ts'
import { hex } from '../../support/checking-receivers.ts'
import { byId, type Console, enter, type Shown, textOf } from '../../support/console.ts'
import { fillAccount } from '../../support/console-states.ts'
import { onEveryDatabase, onOneDatabase } from '../../support/service.ts'
import { receiving } from '../../support/subscriber.ts'
import { holdAttempts } from '../../support/time.ts'

const KEY = 'webhook_test_prhkrb89l43v8bk43schrlpkdj'

/** A browser sends an empty file if nobody has chosen one. */
function compare(
  browser: Console,
  fields: Record<string, string>,
  file: string | Buffer<ArrayBuffer> = '',
): Promise<Shown> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([file]), file === '' ? '' : 'body.json')
  return browser.post('signature', form)
}

const resultOf = (page: Shown): string => textOf(byId(page, 'result'))

onEveryDatabase('The signature workbench', receiving, service => {
  test('offers the newest messages, and compares with the one that was picked what is entered', async t => {
    const { api, browser } = await enter(service())
    holdAttempts(t)
    const shelf = await fillAccount(service(), api)
    t.after(shelf.close)
    const { failed, delivered, archive, ledger } = shelf
    const [{ webhook_message_id: message, body }] = failed
    const page = await browser.get(`signature?message=${message}`)
    const options = byId(page, 'message').inside.filter(tagged('option'))
    assert.ok(options.length > failed.length + delivered.length)
    const picked = only(options, ({ attributes }) => attributes.selected === '')
    assert.equal(picked.attributes.value, message)
    const kept = JSON.stringify(body)
    const other = JSON.stringify(delivered[0].body)
    const key = archive.signing_key
    for (const [fields, says] of [
      [{ header: hex(kept, key) }, /^Match It matches: the header is right\.$/],
      [{ text: kept, key }, /^No mistake found .*: key and body are right/],
      [{ text: `${kept}\r\n` }, /^No match .* with a newline at its end\..*express\.raw/],
      [{ key: ledger.signing_key }, /is the signing key of Ledger feed, .* the key of Archive/],
      [{ computed: 'f'.repeat(64) }, new RegExp(`Show the signing key Of Archive: ${key} `)],
      [{ text: kept.replace('4650', '4651') }, /first byte that differs is byte \d+, counted/],
      [{ header: hex(other, ledger.signing_key) }, /The header is the signature of \w{26}\./],
    ] as const)
      assert.match(resultOf(await compare(browser, { message, ...fields })), says)
  })
})

// The comparison needs the form and one message, which the test above reads from every database.
onOneDatabase('What the signature workbench takes and says', service => {
  test('takes the body as a file, in base64 or as text, whose line ends the form may have changed', async () => {
    const { browser } = await enter(service())
    const lines = '{\n "a": 1\n}\n'
    const windows = lines.replaceAll('\n', '\r\n')
    const bytes = Buffer.from([0xff, 0, 0xfe])
    for (const [body, fields, file, says] of [
      [lines, { text: windows }, '', /^Match It matches, with the line ends of the text as LF\./],
      [windows, { text: windows }, '', /^Match It matches, with CRLF at the ends/],
      [lines, {}, lines, /^Match/],
      [bytes, { base64: bytes.toString('base64') }, '', /^Match/],
      [bytes, { base64: bytes.toString('base64url') }, '', /^Match/],
      [bytes, { base64: '/wD+\n' }, '', /^Match/],
      [bytes, {}, bytes, /^Match/],
    ] as const) {
      const known = { key: KEY, header: hex(body, KEY) }
      assert.match(resultOf(await compare(browser, { ...known, ...fields }, file)), says)
    }
  })

  test('lets another account compare although many comparisons of one account wait', async () => {
    const [{ browser: busy }, { browser: other }] = [await enter(service()), await enter(service())]
    const text = `[${'0,'.repeat(5_000)}0]`
    const ended: string[] = []
    const run = async (name: string, sent: Console) => {
      await compare(sent, { header: 'f'.repeat(64), key: 'a key', text })
      ended.push(name)
    }
    const many = Array.from({ length: 12 }, () => run('busy', busy))
    await Promise.all([...many, run('other', other)])
    assert.ok(ended.indexOf('other') < 6, `${ended}`)
  })

  test('shows a fault at its field, and never the secret that was entered', async () => {
    const { browser } = await enter(service())
    const good = { header: 'f', key: 'a secret of somebody', text: 'x' }
    for (const [fields, field, file] of [
      [{ ...good, key: '' }, 'key'],
      [{ ...good, header: '' }, 'header'],
      [{ ...good, base64: 'eA==' }, 'text'],
      [{ ...good, text: '', base64: '#' }, 'base64'],
      [{ ...good, message: 'unknown' }, 'message'],
      [{ ...good, text: `${'['.repeat(65)}${']'.repeat(65)}` }, 'text'],
      [{ ...good, text: '', base64: Buffer.alloc(65_537).toString('base64') }, 'base64'],
      [{ ...good, key: 'k'.repeat(1_025) }, 'key'],
      [{}, 'computed'],
      [{ ...good, text: '' }, 'file', 'x'.repeat(65_537)],
    ] as const) {
      const page = await compare(browser, fields, file)
      assert.equal(page.status, 400)
      const { text } = byId(page, `${field}-error`)
      if (field === 'file') assert.match(text, /has 65,537 bytes: at most 65,536 are compared/)
      assert.equal(page.elements.filter(withId('result')).length, 0, 'no verdict')
      assert.ok(!page.html.includes(good.key), field)
    }
    const answer = await compare(browser, good)
    assert.match(resultOf(answer), /^No match/)
    assert.ok(!answer.html.includes(good.key))
  })

  test('refuses forms of another type, damaged ones, those of other sites, and more than 256 KiB', async () => {
    const { browser } = await enter(service())
    const type = 'multipart/form-data; boundary=b'
    const part = '--b\r\nContent-Disposition: form-data; name="text"\r\n\r\nx\r\n--b--\r\n'
    for (const [status, sent, body, headers] of [
      [400, type, part], // without a secret
      [415, 'application/x-www-form-urlencoded', 'text=x'],
      [400, 'multipart/form-data', part],
      [400, type, '--b\r\nunfinished'],
      [403, type, part, { 'Sec-Fetch-Site': 'cross-site' }],
      [413, type, part + 'x'.repeat(256 * 1024)],
    ] as const) {
      const answer = await browser.post('signature', body, { 'Content-Type': sent, ...headers })
      assert.equal(answer.status, status)
    }
  })
})
