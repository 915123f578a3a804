import { createHash, createHmac } from 'node:crypto'
import type { Variant } from './variants.ts'

export const signatureOf = (body: Buffer, key: Buffer): string =>
  createHmac('sha256', key).update(body).digest('hex')

/** The fewest digits of a cut signature: fewer could match by chance. */
const FEWEST_DIGITS = 8

type Digest = Omit<Variant<string>, 'value'>

/** How `text` was computed from the body and the key; undefined if it was not. */
export function digestOf(text: string, body: Buffer, key: Buffer): Digest | undefined {
  const right = createHmac('sha256', key).update(body).digest()
  const hex = right.toString('hex')
  if (text === hex) return { cause: 'as-is', words: 'as it is' }
  return written(text, right, hex) ?? otherAlgorithm(text, body, key)
}

function written(text: string, right: Buffer, hex: string): Digest | undefined {
  if (text.toLowerCase() === hex) return { cause: 'upper', words: 'in upper case' }
  const base64 = right.toString('base64')
  if (text === base64) return { cause: 'base64', words: 'in base64' }
  if (text === right.toString('base64url') || text === base64.replace(/=+$/, ''))
    return { cause: 'base64url', words: 'in base64url' }
  if (text === Buffer.from(hex).toString('base64'))
    return { cause: 'base64-of-hex', words: 'in base64 of its hexadecimal form' }
  const bare = text
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim()
  if (bare.toLowerCase() === hex)
    return { cause: 'quoted', words: 'with quotes or white space around it' }
  const [, prefix = '', rest = ''] = /^([\w-]{1,20}=)(.*)$/s.exec(bare) ?? []
  if (prefix && rest.toLowerCase() === hex)
    return { cause: 'prefixed', words: `with ${prefix} before it` }
  if (bare.length >= FEWEST_DIGITS && hex.startsWith(bare))
    return { cause: 'cut-off', words: `cut off after ${bare.length} digits` }
  return undefined
}

const others: [cause: string, words: string, digest: (body: Buffer, key: Buffer) => Buffer][] = [
  ['sha1', 'made with SHA-1', (body, key) => createHmac('sha1', key).update(body).digest()],
  ['sha512', 'made with SHA-512', (body, key) => createHmac('sha512', key).update(body).digest()],
  [
    'swapped',
    'made with the body as the key and the key as the text',
    (body, key) => createHmac('sha256', body).update(key).digest(),
  ],
  [
    'plain',
    'made with SHA-256 of the key and the body, without HMAC',
    plain((body, key) => [key, body]),
  ],
  [
    'plain-after',
    'made with SHA-256 of the body and the key, without HMAC',
    plain((body, key) => [body, key]),
  ],
  ['no-key', 'made with SHA-256 of the body alone, without the key', plain(body => [body])],
]

function plain(parts: (body: Buffer, key: Buffer) => Buffer[]) {
  return (body: Buffer, key: Buffer) =>
    createHash('sha256')
      .update(Buffer.concat(parts(body, key)))
      .digest()
}

const LENGTHS = new Set([40, 64, 128, 28, 44, 88])

function otherAlgorithm(text: string, body: Buffer, key: Buffer): Digest | undefined {
  const bare = text.trim()
  if (!LENGTHS.has(bare.length)) return undefined
  const found = others.find(([, , digest]) => {
    const made = digest(body, key)
    return made.toString('hex') === bare.toLowerCase() || made.toString('base64') === bare
  })
  return found && { cause: found[0], words: found[1] }
}
