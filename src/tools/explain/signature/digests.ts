import { createHash, createHmac } from 'node:crypto'
import type { Way } from './advice.ts'

export const signatureOf = (body: Buffer, key: Buffer): string =>
  createHmac('sha256', key).update(body).digest('hex')

export type Digest = Pick<Way, 'cause' | 'words'>

/** Code that computes something else than HMAC-SHA256 of the body with the key. */
type Other = Digest & { digest: (body: Buffer, key: Buffer) => string }

const hmac = (algorithm: string, key: Buffer, text: Buffer): string =>
  createHmac(algorithm, key).update(text).digest('hex')

const plain = (...parts: Buffer[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

export const others: readonly Other[] = [
  { cause: 'sha1', words: 'made with SHA-1', digest: (body, key) => hmac('sha1', key, body) },
  { cause: 'sha512', words: 'made with SHA-512', digest: (body, key) => hmac('sha512', key, body) },
  {
    cause: 'swapped',
    words: 'made with the body as the key and the key as the text',
    digest: (body, key) => hmac('sha256', body, key),
  },
  {
    cause: 'plain',
    words: 'made with SHA-256 of the key and the body, without HMAC',
    digest: (body, key) => plain(key, body),
  },
  {
    cause: 'plain-after',
    words: 'made with SHA-256 of the body and the key, without HMAC',
    digest: (body, key) => plain(body, key),
  },
  {
    cause: 'no-key',
    words: 'made with SHA-256 of the body alone, without the key',
    digest: body => plain(body),
  },
]

/** A signature that was written in another form, and what it is in hexadecimal. */
type Rewritten = Digest & { hex: string }

/** What a text is in hexadecimal if a right signature was written wrongly. */
export function rewritten(text: string): Rewritten[] {
  const bare = text
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim()
  const [, prefix, rest = ''] = /^([\w-]{1,20}=)(.*)$/s.exec(bare) ?? []
  return [
    { cause: 'upper', words: 'in upper case', hex: text.toLowerCase() },
    ...fromBase64(text),
    { cause: 'quoted', words: 'with quotes or white space around it', hex: bare.toLowerCase() },
    ...(prefix === undefined
      ? []
      : [{ cause: 'prefixed', words: `with ${prefix} before it`, hex: rest.toLowerCase() }]),
  ]
}

function fromBase64(text: string): Rewritten[] {
  const bytes = Buffer.from(text, 'base64')
  const base64 = bytes.toString('base64')
  const hex = bytes.toString('hex')
  if (text === base64 && bytes.length === 64)
    return [
      {
        cause: 'base64-of-hex',
        words: 'in base64 of its hexadecimal form',
        hex: bytes.toString('latin1'),
      },
    ]
  if (text === base64) return [{ cause: 'base64', words: 'in base64', hex }]
  if (text === bytes.toString('base64url') || text === base64.replace(/=+$/, ''))
    return [{ cause: 'base64url', words: 'in base64url', hex }]
  return []
}

/** The first digits of a signature, where the text may be these. Fewer than 8 could match by chance. */
export const cutOff = (text: string): string | undefined => {
  const bare = text.trim()
  return /^[0-9a-f]{8,}$/.test(bare) ? bare : undefined
}

/** What the text of a digest of any kind is in hexadecimal. */
export const inHex = (text: string): string => {
  const bare = text.trim()
  return /^[0-9a-f]+$/i.test(bare)
    ? bare.toLowerCase()
    : Buffer.from(bare, 'base64').toString('hex')
}

/** A wrong form of a signature, and the text that code which uses it computes. */
type WrongDigest = Digest & { text: string }

/** The forms that code computes and compares with the header, each of this body and key. */
export function wrongDigests(body: Buffer, key: Buffer): WrongDigest[] {
  const hex = signatureOf(body, key)
  const bytes = Buffer.from(hex, 'hex')
  return [
    { cause: 'base64', words: 'in base64', text: bytes.toString('base64') },
    { cause: 'upper', words: 'in upper case', text: hex.toUpperCase() },
    { cause: 'prefixed', words: 'with sha256= before it', text: `sha256=${hex}` },
    { cause: 'base64url', words: 'in base64url', text: bytes.toString('base64url') },
    {
      cause: 'base64-of-hex',
      words: 'in base64 of its hexadecimal form',
      text: Buffer.from(hex).toString('base64'),
    },
    ...others.map(({ digest, ...other }) => ({ ...other, text: digest(body, key) })),
  ]
}
