import { createHash, createHmac } from 'node:crypto'
import { AS_IS, type Variant } from './variants.ts'

export const signatureOf = (body: Buffer, key: Buffer): string =>
  createHmac('sha256', key).update(body).digest('hex')

/** The fewest digits of a cut signature: fewer could match by chance. */
const FEWEST_DIGITS = 8

export type Digest = Pick<Variant<string>, 'cause' | 'words'>

/**
 * How a signature was computed from a body and a key; undefined if it was not. `isHmac` leaves out all but HMAC-SHA256,
 * which takes a fifth of the time.
 */
type DigestSearch = (body: Buffer, key: Buffer, isHmac?: boolean) => Digest | undefined

/** Reads the signature once, because hundreds of pairs of a body and a key are tried with it. */
export function createDigestSearch(text: string): DigestSearch {
  const isWritten = createWrittenSearch(text)
  const isOfOther = createOtherSearch(text.trim())
  return (body, key, isHmac) => {
    const hex = signatureOf(body, key)
    if (text === hex) return { cause: AS_IS, words: 'as it is' }
    return isWritten(hex) ?? (isHmac ? undefined : isOfOther(body, key))
  }
}

function createWrittenSearch(text: string): (hex: string) => Digest | undefined {
  const lower = text.toLowerCase()
  const inBase64 = fromBase64(text)
  const bare = text
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim()
  const lowerBare = bare.toLowerCase()
  const [, prefix = '', rest = ''] = /^([\w-]{1,20}=)(.*)$/s.exec(bare) ?? []
  const lowerRest = rest.toLowerCase()
  return hex => {
    if (lower === hex) return { cause: 'upper', words: 'in upper case' }
    if (inBase64?.hex === hex) return inBase64.digest
    if (lowerBare === hex) return { cause: 'quoted', words: 'with quotes or white space around it' }
    if (prefix && lowerRest === hex) return { cause: 'prefixed', words: `with ${prefix} before it` }
    if (bare.length >= FEWEST_DIGITS && hex.startsWith(bare))
      return { cause: 'cut-off', words: `cut off after ${bare.length} digits` }
    return undefined
  }
}

/** The signature that the text is in base64, in hexadecimal; undefined if it is none. */
function fromBase64(text: string): { hex: string; digest: Digest } | undefined {
  const bytes = Buffer.from(text, 'base64')
  const base64 = bytes.toString('base64')
  const hex = bytes.toString('hex')
  if (text === base64 && bytes.length === 64)
    return {
      hex: bytes.toString('latin1'),
      digest: { cause: 'base64-of-hex', words: 'in base64 of its hexadecimal form' },
    }
  if (text === base64) return { hex, digest: { cause: 'base64', words: 'in base64' } }
  if (text === bytes.toString('base64url') || text === base64.replace(/=+$/, ''))
    return { hex, digest: { cause: 'base64url', words: 'in base64url' } }
  return undefined
}

type Encoding = 'hex' | 'base64'
type Algorithm = 'sha1' | 'sha256' | 'sha512'
type Other = {
  cause: string
  words: string
  algorithm: Algorithm
  digest: (body: Buffer, key: Buffer, encoding: Encoding) => string
}

function plain(parts: Buffer[], encoding: Encoding): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest(encoding)
}

const others: Other[] = [
  {
    cause: 'sha1',
    words: 'made with SHA-1',
    algorithm: 'sha1',
    digest: (body, key, encoding) => createHmac('sha1', key).update(body).digest(encoding),
  },
  {
    cause: 'sha512',
    words: 'made with SHA-512',
    algorithm: 'sha512',
    digest: (body, key, encoding) => createHmac('sha512', key).update(body).digest(encoding),
  },
  {
    cause: 'swapped',
    words: 'made with the body as the key and the key as the text',
    algorithm: 'sha256',
    digest: (body, key, encoding) => createHmac('sha256', body).update(key).digest(encoding),
  },
  {
    cause: 'plain',
    words: 'made with SHA-256 of the key and the body, without HMAC',
    algorithm: 'sha256',
    digest: (body, key, encoding) => plain([key, body], encoding),
  },
  {
    cause: 'plain-after',
    words: 'made with SHA-256 of the body and the key, without HMAC',
    algorithm: 'sha256',
    digest: (body, key, encoding) => plain([body, key], encoding),
  },
  {
    cause: 'no-key',
    words: 'made with SHA-256 of the body alone, without the key',
    algorithm: 'sha256',
    digest: (body, _key, encoding) => plain([body], encoding),
  },
]

/** By the length of a signature. */
const FORMS: Record<number, [Algorithm, Encoding]> = {
  40: ['sha1', 'hex'],
  28: ['sha1', 'base64'],
  64: ['sha256', 'hex'],
  44: ['sha256', 'base64'],
  128: ['sha512', 'hex'],
  88: ['sha512', 'base64'],
}

function createOtherSearch(bare: string): DigestSearch {
  const form = FORMS[bare.length]
  if (!form) return () => undefined
  const [algorithm, encoding] = form
  const wanted = encoding === 'hex' ? bare.toLowerCase() : bare
  const tried = others.filter(other => other.algorithm === algorithm)
  return (body, key) => {
    const found = tried.find(({ digest }) => digest(body, key, encoding) === wanted)
    return found && { cause: found.cause, words: found.words }
  }
}

/** A wrong form of a signature, and the text that code which uses it computes. */
export type WrongDigest = Digest & { text: string }

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
    ...others.map(({ cause, words, digest }) => ({ cause, words, text: digest(body, key, 'hex') })),
  ]
}
