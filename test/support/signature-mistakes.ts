/**
 * Mistakes that code in six languages makes with the signature of a message, and how each is named. The libraries are
 * written out once more here, so that the table does not depend on the printers under test.
 */
import { createHash, createHmac } from 'node:crypto'
import { type Language, libraries, print, pythonBytes, type Row } from './library-json.ts'

export type Mistake = {
  language: Language
  code: string
  /** The signature that the code computes. */
  computed: string
  cause: string
  /** What follows "the header" or "what your code computed". */
  says: string
}

export type Signed = {
  body: string
  key: string
  /** Another webhook of the account. */
  other: { name: string; key: string }
  /** The name of the webhook with `key`. */
  webhook: string
}

const hmac = (body: string | Buffer, key: string | Buffer) => createHmac('sha256', key).update(body)
const hex = (body: string | Buffer, key: string | Buffer) => hmac(body, key).digest('hex')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const bodies: Row<(body: string) => string | Buffer>[] = [
  [
    'JavaScript',
    'JSON.stringify(req.body.resource)',
    body => JSON.stringify(JSON.parse(body).resource),
    'resource',
    'reduced to its resource',
  ],
  [
    'JavaScript',
    'JSON.stringify(text)',
    body => JSON.stringify(body),
    'string',
    'as a JSON string that holds the JSON',
  ],
  [
    'JavaScript',
    'the stream was read by a parser',
    () => '',
    'empty',
    'left empty, because its stream had been read before',
  ],
  [
    'JavaScript',
    'String(req.body)',
    () => '[object Object]',
    'object',
    'replaced by [object Object], the text of a JavaScript object',
  ],
  [
    'JavaScript',
    "req.setEncoding('latin1')",
    body => Buffer.from(body).toString('latin1'),
    'latin-1',
    'with its UTF-8 read as Latin-1',
  ],
  [
    'Python',
    "text.encode('utf-16-le')",
    body => Buffer.from(body, 'utf16le'),
    'in-utf-16',
    'encoded in UTF-16',
  ],
  ['Python', 'str(request.data)', pythonBytes, 'python-bytes', "as Python prints bytes, b'...'"],
  [
    'Ruby',
    'puts to a file before the check',
    body => `${body}\n`,
    'newline',
    'with a newline at its end',
  ],
  [
    'Java',
    'body.getBytes(ISO_8859_1)',
    body => Buffer.from(body, 'latin1'),
    'in-latin-1',
    'encoded in Latin-1',
  ],
  [
    'Java',
    'body.getBytes(US_ASCII)',
    body => body.replace(/\P{ASCII}/gu, '?'),
    'in-ascii',
    'encoded in ASCII',
  ],
  [
    'Go',
    'a file with a byte order mark',
    body => `\ufeff${body}`,
    'bom',
    'with a byte order mark before it',
  ],
]

const keys: Row<(key: string) => string | Buffer>[] = [
  [
    'JavaScript',
    'String(process.env.WRONG_NAME)',
    () => 'undefined',
    'undefined',
    'replaced by the word undefined',
  ],
  [
    'JavaScript',
    "readFileSync('secret')",
    key => `${key}\n`,
    'newline',
    'with a newline at its end',
  ],
  [
    'Python',
    'str(os.environ.get("WRONG_NAME"))',
    () => 'None',
    'None',
    'replaced by the word None',
  ],
  [
    'Python',
    'base64.b64decode(key)',
    key => Buffer.from(key, 'base64'),
    'base64-decoded',
    'decoded from base64',
  ],
  [
    'Ruby',
    'key.delete_prefix("webhook_test_")',
    key => key.slice(13),
    'no-prefix',
    'without webhook_test_',
  ],
  ['Ruby', 'key.upcase', key => key.toUpperCase(), 'upper', 'in upper case'],
  [
    'PHP',
    'trim() forgotten on a line with CRLF',
    key => `${key}\r\n`,
    'crlf',
    'with CRLF at its end',
  ],
  [
    'Java',
    'quotes in application.properties',
    key => `"${key}"`,
    'quotes',
    'with double quotes around it',
  ],
  ['Go', 'os.Getenv of a name that is not set', () => '', 'empty', 'left empty'],
]

const digests: Row<(body: string, key: string) => string>[] = [
  [
    'JavaScript',
    "digest('base64')",
    (body, key) => hmac(body, key).digest('base64'),
    'base64',
    'in base64',
  ],
  [
    'JavaScript',
    "digest('base64url')",
    (body, key) => hmac(body, key).digest('base64url'),
    'base64url',
    'in base64url',
  ],
  [
    'JavaScript',
    "createHmac('sha1')",
    (body, key) => createHmac('sha1', key).update(body).digest('hex'),
    'sha1',
    'made with SHA-1',
  ],
  [
    'Python',
    'sha256(key + body)',
    (body, key) => sha256(key + body),
    'plain',
    'made with SHA-256 of the key and the body, without HMAC',
  ],
  [
    'Python',
    'sha256(body)',
    body => sha256(body),
    'no-key',
    'made with SHA-256 of the body alone, without the key',
  ],
  [
    'Python',
    'hexdigest().upper()',
    (body, key) => hex(body, key).toUpperCase(),
    'upper',
    'in upper case',
  ],
  [
    'Ruby',
    '"sha256=" + hexdigest',
    (body, key) => `sha256=${hex(body, key)}`,
    'prefixed',
    'with sha256= before it',
  ],
  [
    'PHP',
    "hash_hmac('sha512')",
    (body, key) => createHmac('sha512', key).update(body).digest('hex'),
    'sha512',
    'made with SHA-512',
  ],
  [
    'PHP',
    'hash_hmac with body and key swapped',
    (body, key) => hex(key, body),
    'swapped',
    'made with the body as the key and the key as the text',
  ],
  [
    'Java',
    'the end was cut',
    (body, key) => hex(body, key).slice(0, 56),
    'cut-off',
    'cut off after 56 digits',
  ],
]

/** The body must have letters beyond ASCII, <, &, an apostrophe, an empty object, and keys that are not sorted. */
export function mistakesWith({ body, key, other, webhook }: Signed): Mistake[] {
  const value = JSON.parse(body)
  return [
    ...libraries.map(([language, code, style, cause, library]) => ({
      language,
      code,
      computed: hex(print(value, style), key),
      cause: `body:printed-${cause}`,
      says: `is made of the body parsed and printed again by ${library}`,
    })),
    ...bodies.map(([language, code, change, cause, words]) => ({
      language,
      code,
      computed: hex(change(body), key),
      cause: `body:${cause}`,
      says: `is made of the body ${words}`,
    })),
    ...keys.map(([language, code, change, cause, words]) => ({
      language,
      code,
      computed: hex(body, change(key)),
      cause: `key:${cause}`,
      says: `is made with the key ${words}`,
    })),
    {
      language: 'Go',
      code: 'the key of another webhook',
      computed: hex(body, other.key),
      cause: 'key:other-webhook',
      says: `is made with the key of ${other.name}, and the message is signed with the key of ${webhook}`,
    },
    ...digests.map(([language, code, compute, cause, words]) => ({
      language,
      code,
      computed: compute(body, key),
      cause: `digest:${cause}`,
      says: `is the signature ${words}`,
    })),
  ]
}
