/**
 * Mistakes that code in six languages makes with the signature of a message, and the name of each. The libraries are
 * written out again here, so that the table does not depend on the printers under test.
 */
import { createHash, createHmac } from 'node:crypto'

/** The cause, its name in words, and the result of the mistaken code. */
type Row<Value> = [cause: string, words: string, value: Value]

type Style = {
  comma?: string
  colon?: string
  indent?: number
  sorted?: boolean
  empty?: string
  string?: (text: string) => string
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

export function print(value: Json, style: Style, depth = 0): string {
  const { indent, sorted, string = JSON.stringify, empty = '{}' } = style
  const { comma = ',', colon = indent === undefined ? ':' : ': ' } = style
  if (typeof value === 'string') return string(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value)
  if (sorted) names.sort()
  const items = Array.isArray(value)
    ? value.map(item => print(item, style, depth + 1))
    : names.map(name => string(name) + colon + print(value[name] ?? null, style, depth + 1))
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (items.length === 0) return Array.isArray(value) ? '[]' : empty
  if (indent === undefined) return open + items.join(comma) + close
  const line = (level: number) => `\n${' '.repeat(indent * level)}`
  return open + items.map(item => line(depth + 1) + item).join(',') + line(depth) + close
}

const escaping = (pattern: RegExp) => (text: string) =>
  JSON.stringify(text).replace(
    pattern,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
const ascii = escaping(/[\u007f-\uffff]/g)
const html = escaping(/[<>&]/g)
const slashed = (string: (text: string) => string) => (text: string) =>
  string(text).replaceAll('/', '\\/')

const python = { comma: ', ', colon: ': ' }

/** Libraries that print a parsed body again. The words name the library. */
const libraries: Row<Style>[] = [
  ['pretty-2', 'a library that indents by 2 spaces', { indent: 2 }],
  ['python', 'json.dumps() of Python', { ...python, string: ascii }],
  ['python-pretty-4', 'json.dumps(indent=4) of Python', { indent: 4, string: ascii }],
  ['python-unicode', 'json.dumps(ensure_ascii=False) of Python', python],
  [
    'python-sorted',
    'json.dumps(sort_keys=True) of Python',
    { ...python, string: ascii, sorted: true },
  ],
  [
    'ascii',
    "a library that escapes what is not ASCII, such as json.dumps(separators=(',', ':')) of Python, or json_encode() of PHP with JSON_UNESCAPED_SLASHES",
    { string: ascii },
  ],
  [
    'html',
    'a library that escapes <, > and &, such as to_json of Rails, json.Marshal() of a struct in Go, or Gson of Java',
    { string: html },
  ],
  ['sorted', 'a library that sorts the keys', { sorted: true }],
  ['php', 'json_encode() of PHP', { string: slashed(ascii) }],
  [
    'php-array',
    'json_encode(json_decode($body, true)) of PHP',
    { string: slashed(ascii), empty: '[]' },
  ],
  [
    'php-unicode',
    'json_encode() of PHP with JSON_UNESCAPED_UNICODE',
    { string: slashed(JSON.stringify) },
  ],
  [
    'php-pretty',
    'json_encode() of PHP with JSON_PRETTY_PRINT',
    { indent: 4, string: slashed(ascii) },
  ],
  ['gson', 'Gson of Java', { string: escaping(/[<>&='\u2028\u2029]/g) }],
  ['jackson-pretty', 'Jackson of Java with indents', { indent: 2, colon: ' : ', empty: '{ }' }],
  ['go', 'json.Marshal() of a map in Go', { string: html, sorted: true }],
]

/** For a body without double quotes that Python would escape: it has both kinds of quotes. */
const pythonBytes = (body: string): string =>
  `b'${Buffer.from(body)
    .toString('latin1')
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replace(/[\u0080-\u00ff]/g, unit => `\\x${unit.charCodeAt(0).toString(16)}`)}'`

type Mistake = {
  computed: string
  cause: string
  /** The end of the sentence that begins with "the header" or "what your code computed". */
  says: string
}

type Signed = {
  body: string
  key: string
  /** Another webhook of the account. */
  other: { name: string; key: string }
  webhook: string
}

const hmac = (body: string | Buffer, key: string | Buffer, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(body)
const hex = (body: string | Buffer, key: string | Buffer) => hmac(body, key).digest('hex')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const bodies: Row<(body: string) => string | Buffer>[] = [
  ['resource', 'reduced to its resource', body => JSON.stringify(JSON.parse(body).resource)],
  ['string', 'as a JSON string that holds the JSON', body => JSON.stringify(body)],
  ['empty', 'left empty, because its stream had been read before', () => ''],
  [
    'object',
    'replaced by [object Object], the text of a JavaScript object',
    () => '[object Object]',
  ],
  ['latin-1', 'with its UTF-8 read as Latin-1', body => Buffer.from(body).toString('latin1')],
  ['in-utf-16', 'encoded in UTF-16', body => Buffer.from(body, 'utf16le')],
  ['python-bytes', "as Python prints bytes, b'...'", pythonBytes],
  ['newline', 'with a newline at its end', body => `${body}\n`],
  ['in-latin-1', 'encoded in Latin-1', body => Buffer.from(body, 'latin1')],
  ['in-ascii', 'encoded in ASCII', body => body.replace(/\P{ASCII}/gu, '?')],
  ['bom', 'with a byte order mark before it', body => `\ufeff${body}`],
]

const keys: Row<(key: string) => string | Buffer>[] = [
  ['undefined', 'replaced by the word undefined', () => 'undefined'],
  ['newline', 'with a newline at its end', key => `${key}\n`],
  ['None', 'replaced by the word None', () => 'None'],
  ['base64-decoded', 'decoded from base64', key => Buffer.from(key, 'base64')],
  ['no-prefix', 'without webhook_test_', key => key.slice(13)],
  ['upper', 'in upper case', key => key.toUpperCase()],
  ['crlf', 'with CRLF at its end', key => `${key}\r\n`],
  ['quotes', 'with double quotes around it', key => `"${key}"`],
  ['empty', 'left empty', () => ''],
]

const digests: Row<(body: string, key: string) => string>[] = [
  ['base64', 'in base64', (body, key) => hmac(body, key).digest('base64')],
  ['base64url', 'in base64url', (body, key) => hmac(body, key).digest('base64url')],
  ['sha1', 'made with SHA-1', (body, key) => hmac(body, key, 'sha1').digest('hex')],
  [
    'plain',
    'made with SHA-256 of the key and the body, without HMAC',
    (body, key) => sha256(key + body),
  ],
  ['no-key', 'made with SHA-256 of the body alone, without the key', body => sha256(body)],
  ['upper', 'in upper case', (body, key) => hex(body, key).toUpperCase()],
  ['prefixed', 'with sha256= before it', (body, key) => `sha256=${hex(body, key)}`],
  ['sha512', 'made with SHA-512', (body, key) => hmac(body, key, 'sha512').digest('hex')],
  [
    'swapped',
    'made with the body as the key and the key as the text',
    (body, key) => hex(key, body),
  ],
  ['cut-off', 'cut off after 56 digits', (body, key) => hex(body, key).slice(0, 56)],
]

/** The body must have letters beyond ASCII, <, &, an apostrophe, an empty object, and keys that are not sorted. */
export function mistakesWith({ body, key, other, webhook }: Signed): Mistake[] {
  const value = JSON.parse(body)
  return [
    ...libraries.map(([cause, library, style]) => ({
      computed: hex(print(value, style), key),
      cause: `body:printed-${cause}`,
      says: `is made of the body parsed and printed again by ${library}`,
    })),
    ...bodies.map(([cause, words, change]) => ({
      computed: hex(change(body), key),
      cause: `body:${cause}`,
      says: `is made of the body ${words}`,
    })),
    ...keys.map(([cause, words, change]) => ({
      computed: hex(body, change(key)),
      cause: `key:${cause}`,
      says: `is made with the key ${words}`,
    })),
    {
      computed: hex(body, other.key),
      cause: 'key:other-webhook',
      says: `is made with the key of ${other.name}, and the message is signed with the key of ${webhook}`,
    },
    ...digests.map(([cause, words, compute]) => ({
      computed: compute(body, key),
      cause: `digest:${cause}`,
      says: `is the signature ${words}`,
    })),
  ]
}
