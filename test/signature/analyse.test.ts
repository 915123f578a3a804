import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { analyse, type Question } from '../../src/tools/signature/analyse.ts'

const KEY = 'webhook_test_prhk3v9u7t2q5n8m1l4k6j0hgd'
const ARCHIVE_KEY = 'webhook_test_0123456789abcdefghijklmnop'
const keys = [
  { name: 'Ledger', key: KEY },
  { name: 'Archive', key: ARCHIVE_KEY },
]

/** With what libraries print differently: è, £, /, <, >, &, ', +, an empty object, keys that are not sorted. */
const SENT = `{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R/7","description":"Crème <b> & £5 'x' +1","amount":1450,"metadata":{}}}`
const RESOURCE = `{"reference":"R/7","description":"Crème <b> & £5 'x' +1","amount":1450,"metadata":{}}`

const hmac = (body: string | Buffer, key: string | Buffer = KEY) =>
  createHmac('sha256', key).update(body)
const hex = (body: string | Buffer, key?: string | Buffer) => hmac(body, key).digest('hex')
const right = hex(SENT)

const analysed = (question: Omit<Partial<Question>, 'body'> & { body?: string | Buffer }) =>
  analyse({ key: KEY, header: right, keys, ...question, body: Buffer.from(question.body ?? SENT) })

// The output of each library is written out, so that the table does not depend on the printers under test.
const PYTHON = String.raw`{"webhook_message_id": "06h3k", "event_type": "card_payment_failed", "resource": {"reference": "R/7", "description": "Cr\u00e8me <b> & \u00a35 'x' +1", "amount": 1450, "metadata": {}}}`
const PYTHON_SORTED = String.raw`{"event_type": "card_payment_failed", "resource": {"amount": 1450, "description": "Cr\u00e8me <b> & \u00a35 'x' +1", "metadata": {}, "reference": "R/7"}, "webhook_message_id": "06h3k"}`
const PYTHON_COMPACT = String.raw`{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R/7","description":"Cr\u00e8me <b> & \u00a35 'x' +1","amount":1450,"metadata":{}}}`
const PYTHON_UNICODE = `{"webhook_message_id": "06h3k", "event_type": "card_payment_failed", "resource": {"reference": "R/7", "description": "Crème <b> & £5 'x' +1", "amount": 1450, "metadata": {}}}`
const PHP_ARRAY = String.raw`{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R\/7","description":"Cr\u00e8me <b> & \u00a35 'x' +1","amount":1450,"metadata":[]}}`
const PHP = PHP_ARRAY.replace('[]', '{}')
const PHP_UNICODE = String.raw`{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R\/7","description":"Crème <b> & £5 'x' +1","amount":1450,"metadata":{}}}`
const RAILS = String.raw`{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R/7","description":"Crème \u003cb\u003e \u0026 £5 'x' +1","amount":1450,"metadata":{}}}`
const GO = String.raw`{"event_type":"card_payment_failed","resource":{"amount":1450,"description":"Crème \u003cb\u003e \u0026 £5 'x' +1","metadata":{},"reference":"R/7"},"webhook_message_id":"06h3k"}`
const GSON = String.raw`{"webhook_message_id":"06h3k","event_type":"card_payment_failed","resource":{"reference":"R/7","description":"Crème \u003cb\u003e \u0026 £5 \u0027x\u0027 +1","amount":1450,"metadata":{}}}`
const PRETTY = `{
  "webhook_message_id": "06h3k",
  "event_type": "card_payment_failed",
  "resource": {
    "reference": "R/7",
    "description": "Crème <b> & £5 'x' +1",
    "amount": 1450,
    "metadata": {}
  }
}`

/** The language, the mistake in it, what its code computes, and the cause that must be named. */
const mistakesOfCode: [language: string, mistake: string, computed: string, cause: string][] = [
  ['JavaScript', 'JSON.stringify(req.body, null, 2)', hex(PRETTY), 'body:printed-pretty-2'],
  ['JavaScript', 'JSON.stringify(req.body.resource)', hex(RESOURCE), 'body:resource'],
  [
    'JavaScript',
    'JSON.stringify of the text of the body',
    hex(JSON.stringify(SENT)),
    'body:string',
  ],
  ['JavaScript', 'the stream was read by a body parser', hex(''), 'body:empty'],
  [
    'JavaScript',
    "req.setEncoding('latin1')",
    hex(Buffer.from(Buffer.from(SENT).toString('latin1'))),
    'body:latin-1',
  ],
  ['JavaScript', "digest('base64')", hmac(SENT).digest('base64'), 'digest:base64'],
  ['JavaScript', "digest('base64url')", hmac(SENT).digest('base64url'), 'digest:base64url'],
  [
    'JavaScript',
    "createHmac('sha1')",
    createHmac('sha1', KEY).update(SENT).digest('hex'),
    'digest:sha1',
  ],
  ['JavaScript', 'String(process.env.WRONG_NAME)', hex(SENT, 'undefined'), 'key:undefined'],
  ['JavaScript', "readFileSync('secret')", hex(SENT, `${KEY}\n`), 'key:newline'],
  ['Python', 'json.dumps(request.json)', hex(PYTHON), 'body:printed-python'],
  [
    'Python',
    "json.dumps(..., separators=(',', ':'))",
    hex(PYTHON_COMPACT),
    'body:printed-python-compact',
  ],
  [
    'Python',
    'json.dumps(..., ensure_ascii=False)',
    hex(PYTHON_UNICODE),
    'body:printed-python-unicode',
  ],
  ['Python', 'json.dumps(..., sort_keys=True)', hex(PYTHON_SORTED), 'body:printed-python-sorted'],
  [
    'Python',
    'sha256(key + body)',
    createHash('sha256')
      .update(KEY + SENT)
      .digest('hex'),
    'digest:plain',
  ],
  ['Python', 'str(os.environ.get("WRONG_NAME"))', hex(SENT, 'None'), 'key:None'],
  ['Python', "body.encode('utf-16-le')", hex(Buffer.from(SENT, 'utf16le')), 'body:in-utf-16'],
  ['Python', 'hexdigest().upper()', right.toUpperCase(), 'digest:upper'],
  ['Python', 'base64.b64decode(key)', hex(SENT, Buffer.from(KEY, 'base64')), 'key:base64-decoded'],
  ['Ruby', 'JSON.pretty_generate(params)', hex(PRETTY), 'body:printed-pretty-2'],
  ['Ruby', 'params.to_json in Rails', hex(RAILS), 'body:printed-rails'],
  ['Ruby', 'key.delete_prefix("webhook_test_")', hex(SENT, KEY.slice(13)), 'key:no-prefix'],
  ['Ruby', 'puts to a file before the check', hex(`${SENT}\n`), 'body:newline'],
  ['Ruby', 'key.upcase', hex(SENT, KEY.toUpperCase()), 'key:upper'],
  ['Ruby', '"sha256=" + hexdigest', `sha256=${right}`, 'digest:prefixed'],
  ['PHP', 'json_encode(json_decode($body))', hex(PHP), 'body:printed-php'],
  ['PHP', 'json_encode(json_decode($body, true))', hex(PHP_ARRAY), 'body:printed-php-array'],
  ['PHP', 'JSON_UNESCAPED_UNICODE', hex(PHP_UNICODE), 'body:printed-php-unicode'],
  ['PHP', 'hash_hmac(..., true) in base64', hmac(SENT).digest('base64'), 'digest:base64'],
  [
    'PHP',
    "hash_hmac('sha512')",
    createHmac('sha512', KEY).update(SENT).digest('hex'),
    'digest:sha512',
  ],
  ['PHP', 'hash_hmac with key and body the wrong way round', hex(KEY, SENT), 'digest:swapped'],
  ['Java', 'new Gson().toJson(body)', hex(GSON), 'body:printed-gson'],
  ['Java', 'body.getBytes(ISO_8859_1)', hex(Buffer.from(SENT, 'latin1')), 'body:in-latin-1'],
  [
    'Java',
    'body.getBytes(US_ASCII)',
    hex(SENT.replace('è', '?').replace('£', '?')),
    'body:in-ascii',
  ],
  ['Java', 'quotes in application.properties', hex(SENT, `"${KEY}"`), 'key:quotes'],
  ['Java', 'Integer.toHexString cut the end', right.slice(0, 56), 'digest:cut-off'],
  ['Go', 'json.Marshal(map)', hex(GO), 'body:printed-go'],
  ['Go', 'a file with a byte order mark', hex(`\ufeff${SENT}`), 'body:bom'],
  ['Go', 'os.Getenv of a name that is not set', hex(SENT, ''), 'key:empty'],
  ['Go', 'the key of another webhook', hex(SENT, ARCHIVE_KEY), 'key:other-webhook'],
]

describe('The analysis of a signature', () => {
  test('The analysis names each of 40 mistakes that code in six languages makes, and no other', () => {
    assert.equal(mistakesOfCode.length, 40)
    assert.equal(new Set(mistakesOfCode.map(([language]) => language)).size, 6)
    for (const [language, mistake, computed, cause] of mistakesOfCode) {
      const { matches, causes, sentence, advice } = analysed({ computed })
      assert.deepEqual(causes, [`code-${cause}`], `${language}: ${mistake}`)
      assert.equal(matches, false)
      assert.match(sentence, /^The header matches, but your code does not: it/)
      assert.equal(advice.length, 1, mistake)
    }
  })

  test('The analysis names the fault of the given body, key or header', () => {
    for (const [given, cause, says] of [
      [{ body: `${SENT}\n` }, 'body:newline', /the body given is the message with a newline at/],
      [
        { body: PYTHON },
        'body:printed-python',
        /parsed and printed again by json\.dumps\(\) of Pyth/,
      ],
      [{ body: PHP }, 'body:printed-php', /json_encode\(\) of PHP/],
      [{ body: PRETTY }, 'body:printed-pretty-2', /indents by 2 spaces/],
      [{ body: JSON.stringify(SENT) }, 'body:string', /a JSON string that holds the JSON/],
      [{ body: Buffer.from(Buffer.from(SENT).toString('latin1')) }, 'body:latin-1', /Latin-1/],
      [
        { body: encodeURIComponent(SENT) },
        'body:not-percent-decoded',
        /the body given percent-dec/,
      ],
      [
        { key: `${KEY}\n` },
        'key:newline',
        /the key given is the signing key with a newline at its en/,
      ],
      [{ key: KEY.slice(13) }, 'key:no-prefix', /the signing key without webhook_test_/],
      [{ key: `'${KEY}'` }, 'key:single-quotes', /single quotes/],
      [
        { key: ARCHIVE_KEY },
        'key:other-webhook',
        /of Archive, and the message is signed with .* Ledger/,
      ],
      [
        { key: 'api_test_9f8e7d' },
        'key:api-key',
        /an API key, which signs nothing, and .* of Ledger/,
      ],
      [
        { header: right.toUpperCase() },
        'header:upper',
        /the header given is the signature in upper/,
      ],
      [{ header: `"${right}"` }, 'header:quoted', /quotes/],
      [{ header: right.slice(0, 40) }, 'header:cut-off', /cut off after 40 digits/],
    ] as const) {
      const { matches, causes, sentence } = analysed(given)
      assert.deepEqual(causes, [cause])
      assert.equal(matches, false)
      assert.match(sentence, says)
    }
  })

  test('The analysis finds two mistakes at once, with and without the keys of the account', () => {
    const both = { body: `${SENT}\r\n`.replace('\r\n', '\n'), key: `${KEY}\n` }
    const { causes, sentence } = analysed({ ...both, keys: [] })
    assert.deepEqual(causes, ['body:newline', 'key:newline'])
    assert.match(sentence, /^It does not match: the body given .* and the key given .*\.$/)
    const code = analysed({ computed: hex(PYTHON, `${KEY}\n`).toUpperCase() })
    assert.deepEqual(code.causes, [
      'code-body:printed-python',
      'code-key:newline',
      'code-digest:upper',
    ])
  })

  test('The analysis recognises a match, also if a form changed the line ends', () => {
    assert.deepEqual(analysed({ computed: right }), {
      matches: true,
      sentence: 'It matches: these bytes, this key, this signature.',
      causes: [],
      advice: [],
    })
    const lines = '{"a":\n1}\n'
    const typed = { header: hex(lines), body: lines.replaceAll('\n', '\r\n'), typed: true }
    const { matches, sentence } = analysed(typed)
    assert.equal(matches, true)
    assert.match(sentence, /LF/)
    assert.equal(analysed({ ...typed, typed: false }).causes[0], 'body:crlf')
  })

  test('The analysis compares with the picked message, and shows the first byte that differs', () => {
    const message = {
      message_id: '06h3k',
      webhook: 'Ledger',
      signing_key: KEY,
      body: Buffer.from(SENT),
    }
    assert.equal(analysed({ message, header: undefined }).matches, true)
    assert.deepEqual(analysed({ message, body: PYTHON_SORTED }).causes, [
      'body:printed-python-sorted',
    ])
    const edited = analysed({ message, body: SENT.replace('1450', '1451') })
    assert.deepEqual(edited.causes, ['body:unknown'])
    assert.deepEqual(edited.difference, {
      offset: Buffer.from(SENT).indexOf('1450') + 3,
      sent: {
        hex: '75 6e 74 22 3a 31 34 35 30 2c 22 6d 65 74 61 64'.slice(0),
        text: 'unt":1450,"metad',
      },
      given: {
        hex: '75 6e 74 22 3a 31 34 35 31 2c 22 6d 65 74 61 64'.slice(0),
        text: 'unt":1451,"metad',
      },
    })
  })

  test('The analysis names the message whose signature the header is when nothing matches', () => {
    const other = {
      message_id: '06other',
      webhook: 'Archive',
      signing_key: ARCHIVE_KEY,
      body: Buffer.from('{"other":1}'),
    }
    const found = analysed({ header: hex('{"other":1}', ARCHIVE_KEY), messages: [other] })
    assert.deepEqual(found.messages, ['06other'])
    assert.match(found.sentence, /the header is the signature of another message, to Archive/)
    const unknown = analysed({ header: 'f'.repeat(64) })
    assert.equal(unknown.matches, false)
    assert.match(unknown.sentence, /no known mistake explains it/)
    const [code] = analysed({ computed: 'f'.repeat(64) }).causes
    assert.equal(code, 'code:unknown')
  })

  test('The analysis accepts bodies that are not JSON, not text, or nested too deeply', () => {
    for (const body of [Buffer.from([0xff, 0, 0xfe]), '', '['.repeat(50_000), '[1,{"a":[]}]']) {
      const { causes } = analysed({ body, header: hex(body), computed: hex(body).slice(0, 20) })
      assert.deepEqual(causes, ['code-digest:cut-off'])
    }
  })
})
