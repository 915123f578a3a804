/**
 * Mistakes that code in six languages makes with the signature of a message, and how each is named. The libraries are
 * written out once more here, so that the table does not depend on the printers under test.
 */
import { createHash, createHmac } from 'node:crypto'
import { libraries, print, pythonBytes, type Row } from './library-json.ts'

export type Mistake = {
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
