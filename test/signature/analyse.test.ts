import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { analyse } from '../../src/tools/explain/signature/analyse.ts'
import type { BodyAndKey, Input } from '../../src/tools/explain/signature/question.ts'
import { mistakesWith, print } from '../support/signature-mistakes.ts'

const KEY = 'webhook_test_prhk3v9u7t2q5n8m1l4k6j0hgd'
const ARCHIVE_KEY = 'webhook_test_0123456789abcdefghijklmnop'
const keys = [
  { name: 'Ledger', key: KEY },
  { name: 'Archive', key: ARCHIVE_KEY },
]

/** Has what libraries print differently: è, £, /, <, >, &, ', +, an empty object, keys that are not sorted. */
const SENT = `{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R/7","description":"Crème <b> & £5 'x' +1","amount":1450,"metadata":{}}}`
/** JSON.pretty_generate of Ruby 3.1. */
const RUBY = print(JSON.parse(SENT), { indent: 2, empty: '{\n    }' })

const hex = (body: string | Buffer, key: string | Buffer = KEY) =>
  createHmac('sha256', key).update(body).digest('hex')
const right = hex(SENT)

const body = Buffer.from(SENT)
const message = { message_id: '06h3k', webhook: 'Ledger', signing_key: KEY, body }
const given = { body, key: KEY }
const archived = {
  message_id: '06other',
  webhook: 'Archive',
  signing_key: ARCHIVE_KEY,
  body: Buffer.from('{"other":1}'),
}

const analysed = (question: Partial<BodyAndKey> & Omit<Input, 'body' | 'key'>) =>
  analyse({ header: right, keys, ...given, ...question })
const withMessage = (question: Input) => analyse({ keys, message, ...question })

describe('The analysis of a signature', () => {
  test('The analysis names each of 46 mistakes in whatever way it is given, and no other', async () => {
    const other = { name: 'Archive', key: ARCHIVE_KEY }
    const mistakes = mistakesWith({ body: SENT, key: KEY, other, webhook: 'Ledger' })
    assert.equal(new Set(mistakes.map(({ cause }) => cause)).size, 46)
    for (const { computed, cause, says } of mistakes) {
      const header = 'It does not match: the header'
      const code = 'It does not match: what your code computed'
      const codeAlone = 'The header matches, but what your code computed'
      for (const [start, analysis] of [
        [header, withMessage({ header: computed })],
        [header, withMessage({ ...given, header: computed, computed })],
        [header, analysed({ header: computed, messages: [message] })],
        // Without a message either key may be the wrong one.
        ...(cause === 'key:other-webhook'
          ? []
          : [[header, analysed({ header: computed })] as const]),
        [code, withMessage({ computed })],
        [code, analysed({ header: undefined, computed })],
        [codeAlone, withMessage({ header: right, computed })],
        [codeAlone, analysed({ computed })],
      ] as const) {
        const { verdict, causes, sentence, advice } = await analysis
        assert.equal(sentence, `${start} ${says}.`)
        assert.deepEqual(causes, [cause])
        assert.equal(verdict, 'mismatch')
        assert.equal(advice.length, 1, cause)
      }
    }
  })

  test('The analysis names the fault of the given body or key, with and without the message', async () => {
    const python = print(JSON.parse(SENT), { comma: ', ', colon: ': ' })
    for (const [wrong, cause, says] of [
      [{ body: `${SENT}\n` }, 'body:newline', /the body given is the message with a newline at/],
      [{ body: python }, 'body:printed-python-unicode', /printed again by json\.dumps\(ensure_/],
      [{ body: RUBY }, 'body:printed-ruby-pretty', /JSON\.pretty_generate\(\) of Ruby/],
      [{ body: Buffer.from(SENT).toString('latin1') }, 'body:latin-1', /read as Latin-1/],
      [{ key: `${KEY}\n` }, 'key:newline', /the key given is the signing key with a newline at/],
      [{ key: `'${KEY}'` }, 'key:single-quotes', /single quotes/],
      [{ key: ARCHIVE_KEY }, 'key:other-webhook', /of Archive, and the message is .* of Ledger/],
      [{ key: 'api_test_9f8e7d' }, 'key:api-key', /an API key, which signs nothing, and .* Ledger/],
    ] as const) {
      const { body = SENT, key = KEY } = { body: SENT, key: KEY, ...wrong }
      const question = { body: Buffer.from(body), key }
      const computed = hex(body, key)
      for (const analysis of [
        await withMessage(question),
        await withMessage({ ...question, header: right }),
        await withMessage({ ...question, header: right, computed }),
        await withMessage({ ...question, computed }),
        await analysed(question),
        await analysed({ ...question, computed }),
      ]) {
        assert.deepEqual(analysis.causes, [cause])
        assert.match(analysis.sentence, /^It does not match: the (body|key) given is /)
        assert.match(analysis.sentence, says)
        assert.equal(analysis.verdict, 'mismatch')
      }
    }
    const encoded = await withMessage({ body: Buffer.from(encodeURIComponent(SENT)) })
    assert.deepEqual(encoded.causes, ['body:not-percent-decoded'])
  })

  test('The analysis finds two mistakes at once, with and without the keys of the account', async () => {
    const both = { body: Buffer.from(`${SENT}\n`), key: `${KEY}\n` }
    const { causes, sentence } = await analysed({ ...both, keys: [] })
    assert.deepEqual(causes, ['body:newline', 'key:newline'])
    assert.match(sentence, /^It does not match: the body given .* and the key given .*\.$/)
    const python = print(JSON.parse(SENT), { comma: ', ', colon: ': ' })
    const code = await withMessage({ computed: hex(python, `${KEY}\n`).toUpperCase() })
    assert.deepEqual(code.causes, ['body:printed-python-unicode', 'key:newline', 'digest:upper'])
    assert.match(code.sentence, /your code computed is made of .*, it is made with .* and it is/)
    const header = await withMessage({ header: right.toUpperCase(), computed: right })
    assert.match(header.sentence, /in upper case\. What your code computed is right\.$/)
  })

  test('The analysis recognises a match, also if a form changed the line ends', async () => {
    assert.deepEqual(await analysed({ computed: right }), {
      verdict: 'match',
      sentence: 'It matches: these bytes, this key, this signature.',
      causes: [],
      advice: [],
    })
    const lines = '{"a":\n1}\n'
    const body = Buffer.from(lines.replaceAll('\n', '\r\n'))
    const typed = { header: hex(lines), body, typed: true }
    const { verdict, sentence } = await analysed(typed)
    assert.equal(verdict, 'match')
    assert.match(sentence, /LF/)
    assert.equal((await analysed({ ...typed, typed: false })).causes[0], 'body:crlf')
    for (const [question, what] of [
      [{}, 'the header is'],
      [
        { ...given, computed: right },
        'the header, what your code computed, the key and the body are',
      ],
    ] as const) {
      const { sentence } = await withMessage({ header: right, ...question })
      assert.equal(sentence, `It matches: ${what} right.`)
    }
  })

  test('The analysis names line ends, a last newline and a byte order mark, and no library that prints so', async () => {
    const pretty = JSON.stringify(JSON.parse(SENT), null, 2)
    const crlf = pretty.replaceAll('\n', '\r\n')
    for (const [body, signed, cause] of [
      [pretty, crlf, 'lf'],
      [crlf, pretty, 'crlf'],
      [pretty, `${pretty}\n`, 'no-newline'],
      [`${pretty}\n`, pretty, 'newline'],
      [pretty, `\ufeff${pretty}`, 'no-bom'],
    ] as const) {
      const { causes, sentence } = await analysed({ header: hex(signed), body: Buffer.from(body) })
      assert.deepEqual(causes, [`body:${cause}`], sentence)
    }
  })

  test('The analysis says that key and body are right only where what was given shows it', async () => {
    const digit = right.replace(/.$/, last => (last === '0' ? '1' : '0'))
    const another =
      'Most likely your receiver has another signing key. That of Ledger has 39 characters and ends with 0hgd: let your receiver print the length and the last four characters of the key that it reads.'
    const [computed, header] = [{ computed: digit }, { header: digit }]
    for (const [question, follows] of [
      [{ ...given, ...header }, 'Key and body are right.'],
      [{ ...given, ...computed }, 'Key and body are right.'],
      [computed, another],
      [{ body: given.body, ...computed }, another],
      [{ key: KEY, ...computed }, 'The key is right, so most likely the body is not.'],
      [header, 'It is the header of another message, or it was changed on its way.'],
    ] as const) {
      const { verdict, causes, sentence, keyToCompare } = await withMessage(question)
      assert.deepEqual([verdict, causes], ['mismatch', ['unknown']])
      const subject = 'header' in question ? 'the header' : 'what your code computed'
      assert.equal(sentence, `It does not match: no known mistake explains ${subject}. ${follows}`)
      assert.equal(keyToCompare?.signing_key, follows === another ? KEY : undefined)
    }
    const matched = await analysed({ computed: digit })
    assert.match(matched.sentence, /^The header matches, but no .* computed\. Key and body are /)
    assert.match((await analysed({ header: digit })).sentence, /Most likely the key given is not/)
    assert.deepEqual(await withMessage(given), {
      verdict: 'no-mistake',
      sentence: 'No known mistake: key and body are right.',
      causes: [],
      advice: [],
    })
  })

  test('The analysis says of a text what it is, if that is no signature', async () => {
    for (const [text, says] of [
      [KEY, /what your code computed is no signature: this is a key\.$/],
      ['webhook_test_other', /no signature: this is a key\.$/],
      ['api_test_abc', /no signature: this is an API key\.$/],
      ['5f8c', /is not 64 hexadecimal digits, and no known mistake explains it\.$/],
    ] as const) {
      const { verdict, sentence } = await withMessage({ computed: text })
      assert.equal(verdict, 'mismatch')
      assert.match(sentence, says)
    }
    for (const name of ['Pay-Signature: ', 'pay-signature:'])
      assert.equal((await withMessage({ header: name + right })).verdict, 'match')
  })

  test('The analysis shows the first byte of the body that differs from the message', async () => {
    const edited = await withMessage({
      header: right,
      body: Buffer.from(SENT.replace('1450', '1451')),
    })
    assert.deepEqual(edited.causes, ['body:unknown'])
    assert.deepEqual(edited.difference, {
      offset: Buffer.from(SENT).indexOf('1450') + 3,
      sent: { hex: '75 6e 74 22 3a 31 34 35 30 2c 22 6d 65 74 61 64', text: 'unt":1450,"metad' },
      given: { hex: '75 6e 74 22 3a 31 34 35 31 2c 22 6d 65 74 61 64', text: 'unt":1451,"metad' },
    })
  })

  test('The analysis names the message that a signature belongs to if it is another one', async () => {
    const header = hex('{"other":1}', ARCHIVE_KEY)
    for (const question of [{ header }, { computed: header }]) {
      const found = await withMessage({ ...question, messages: [archived] })
      assert.deepEqual(found.messages, ['06other'])
      assert.match(found.sentence, / is the signature of another message, to Archive\.$/)
    }
    const { body, signing_key: key } = archived
    const both = await withMessage({ header, body, key })
    assert.match(both.sentence, /^It matches, but the header and the body are not those of the mes/)
  })

  test('The analysis never names the key of a webhook as another one, also if two have one name', async () => {
    const keys = [
      { name: 'Ledger', key: ARCHIVE_KEY },
      { name: 'Ledger', key: KEY },
    ]
    const { sentence } = await analyse({ message, keys, header: hex(SENT, ARCHIVE_KEY) })
    assert.match(sentence, /key of another webhook that is named Ledger too, and .* of Ledger\.$/)
    const { causes } = await analyse({ message, apiKeys: ['a key'], header: hex(SENT, 'a key') })
    assert.deepEqual(causes, ['key:api-key'])
  })

  test('The analysis accepts bodies that are not JSON, not text, or nested too deeply', async () => {
    for (const each of [Buffer.from([0xff, 0, 0xfe]), '', '['.repeat(50_000), '[1,{"a":[]}]']) {
      const body = Buffer.from(each)
      const [header, computed] = [hex(body), hex(body).slice(0, 20)]
      const { causes } = await analysed({ body, header, computed })
      assert.deepEqual(causes, ['digest:cut-off'])
    }
  })
})
