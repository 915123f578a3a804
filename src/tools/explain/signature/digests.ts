import { createHmac, hash } from 'node:crypto'
import { signature } from '../../../pay/webhooks/webhook.ts'
import type { Way } from './advice.ts'

export type Digest = Pick<Way, 'cause' | 'words'>

/** Code that computes something else than HMAC-SHA256 of the body with the key. */
type Other = [cause: string, words: string, digest: (body: Buffer, key: Buffer) => string]

const hmac = (algorithm: string, key: Buffer, text: Buffer): string =>
  createHmac(algorithm, key).update(text).digest('hex')

const plain = (...parts: Buffer[]): string => hash('sha256', Buffer.concat(parts))

export const others: readonly Other[] = [
  ['no-key', 'made with SHA-256 of the body alone, without the key', body => plain(body)],
  ['sha1', 'made with SHA-1', (body, key) => hmac('sha1', key, body)],
  ['sha512', 'made with SHA-512', (body, key) => hmac('sha512', key, body)],
  [
    'plain',
    'made with SHA-256 of the key and the body, without HMAC',
    (body, key) => plain(key, body),
  ],
  ['plain-after', 'made with SHA-256 of the body and the key, without HMAC', plain],
  [
    'swapped',
    'made with the body as the key and the key as the text',
    (body, key) => signature(key, body),
  ],
]

const UPPER = { cause: 'upper', words: 'in upper case' }
const BASE64 = { cause: 'base64', words: 'in base64' }
const BASE64URL = { cause: 'base64url', words: 'in base64url' }
const BASE64_OF_HEX = { cause: 'base64-of-hex', words: 'in base64 of its hexadecimal form' }
const prefixed = (prefix: string) => ({ cause: 'prefixed', words: `with ${prefix} before it` })

/** The hexadecimal form of a text, for each way to write a right signature wrongly. */
export function rewritten(text: string): (Digest & { hex: string })[] {
  const bare = text
    .trim()
    .replace(/^["']?(.*?)["']?$/s, '$1')
    .trim()
  const [, prefix = '', rest = ''] = /^([\w-]{1,20}=)(.*)$/s.exec(bare) ?? []
  const bytes = Buffer.from(text, 'base64')
  return [
    { ...UPPER, hex: text.toLowerCase() },
    { ...(text.includes('=') ? BASE64 : BASE64URL), hex: bytes.toString('hex') },
    { ...BASE64_OF_HEX, hex: bytes.toString('latin1') },
    { cause: 'quoted', words: 'with quotes or white space around it', hex: bare.toLowerCase() },
    { ...prefixed(prefix), hex: rest.toLowerCase() },
  ]
}

/** The text, if it may be the first digits of a signature. Fewer than 8 could match by chance. */
export const cutOff = (text: string): string | undefined => {
  const bare = text.trim()
  return /^[0-9a-f]{8,}$/.test(bare) ? bare : undefined
}

/** The hexadecimal form of a digest of any kind. */
export const inHex = (text: string): string => {
  const bare = text.trim()
  return /^[0-9a-f]+$/i.test(bare)
    ? bare.toLowerCase()
    : Buffer.from(bare, 'base64').toString('hex')
}

/** Forms of the signature of this body and key that code wrongly compares with the header, the likeliest first. */
export function wrongDigests(body: Buffer, key: Buffer): (Digest & { text: string })[] {
  const hex = signature(body, key)
  const bytes = Buffer.from(hex, 'hex')
  return [
    { ...BASE64, text: bytes.toString('base64') },
    { ...UPPER, text: hex.toUpperCase() },
    { ...prefixed('sha256='), text: `sha256=${hex}` },
    ...others.map(([cause, words, digest]) => ({ cause, words, text: digest(body, key) })),
    { ...BASE64URL, text: bytes.toString('base64url') },
    { ...BASE64_OF_HEX, text: Buffer.from(hex).toString('base64') },
  ]
}
