/** Secrets are masked before a row is made: the database, its backups and exports never hold them. */
import { isUtf8 } from 'node:buffer'
import { decodeAscii } from '../../platform/http/addresses.ts'
import { type KeptBody, MOST_BODY_BYTES } from './exchange.ts'

export const MASK = '…'

/**
 * Texts with the form of a secret, and texts that must not be mistaken for one. In this order: a UUID; a
 * signature or another SHA-256, which may have many digits in a row; an identifier, or a token, which is a payment's
 * identifier and a secret of the same length; an API key or a signing key; 12 to 19 digits, also in groups of four as on
 * a card.
 */
const BY_FORM =
  /(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)|(?<sha256>(?<![0-9a-z])(?:[0-9a-f]{64}|[0-9A-F]{64})(?![0-9a-z]))|(?<![0-9a-v])(?<id>[0-9a-v]{26})(?<secret>[0-9a-v]{26})?(?![0-9a-v])|(?<prefix>(?:api|webhook)_test_)[0-9A-Za-z]+|(?<!\d)(?:\d{12,19}|\d{4}([ -])\d{4}\6\d{4}\6\d{1,7}|\d{4}([ -])\d{6}\7\d{5})(?!\d)/g

/**
 * Only words of this length can hold a secret, except for digits in groups. Skipping all other text halves the time.
 */
const WORD = /\b[\w-]{12,}/g
const DIGITS_IN_GROUPS = /\d{4} \d{4,6}/

/** Values that are secret by their name in JSON: `"cvc": "123"`, also misspelt, and the signing key of a webhook. */
const BY_NAME =
  /("[^"\\]{0,40}(?:cv[cv]|csc|security_?code|signing_?key|authorization|cookie)[^"\\]{0,40}"\s*:\s*)("(?:[^"\\]|\\.)*"?|[^\s,}\]]+)/gi

/** A test of whether `BY_NAME` can match, ten times as fast. */
const HAS_NAME = /cv[cv]|csc|security_?code|signing_?key|authorization|cookie/i

/** Characters that are left out at the end of a cut body, because it may end within a secret. */
const LONGEST_SECRET = 128
/** Masking makes text shorter, so more text is masked than is kept. */
const WINDOW_BYTES = 3 * MOST_BODY_BYTES

const maskForms = (text: string): string => text.replace(BY_FORM, maskForm)

function maskForm(match: string, ...rest: unknown[]): string {
  const { uuid, sha256, id, secret, prefix } = rest.at(-1) as Record<string, string | undefined> // named groups come last
  if (uuid ?? sha256) return match
  if (id) return secret ? id + MASK : id
  return (prefix ?? '') + MASK
}

/** Known secrets shorter than this are not masked by value: they could be ordinary words. */
const SHORTEST_KNOWN = 8

export type Mask = {
  text(text: string): string
  /** Masks a path or a query; all of it, if percent-encoding hides a secret. */
  url(text: string): string
  /** The first 8 KiB; undefined for an empty body. `size` where `bytes` are only the beginning of the body. */
  body(bytes: Buffer | string | undefined, size?: number): KeptBody | undefined
}

/** `known` are secrets that the service knows: the request's key, tokens, keys of the settings. */
export function createMask(known: readonly (string | undefined)[]): Mask {
  const values = [...new Set(known.flatMap(spellings))].sort((a, b) => b.length - a.length)
  const longest = Math.max(LONGEST_SECRET, values[0]?.length ?? 0)

  function plain(text: string): string {
    let masked = text
    for (const value of values) if (masked.includes(value)) masked = masked.replaceAll(value, MASK)
    return DIGITS_IN_GROUPS.test(masked) ? maskForms(masked) : masked.replace(WORD, maskForms)
  }

  /** Masks all of the text if decoding shows a secret that is still in it. */
  function unlessHidden(masked: string, decoded: string): string {
    return decoded === masked || plain(decoded) === decoded ? masked : MASK
  }

  function json(text: string): string {
    const masked = plain(HAS_NAME.test(text) ? text.replace(BY_NAME, `$1"${MASK}"`) : text)
    return masked.includes('\\u') ? unlessHidden(masked, unescaped(masked)) : masked
  }

  return {
    text: plain,
    url(text) {
      const masked = plain(text)
      return masked.includes('%') ? unlessHidden(masked, decodeAscii(masked)) : masked
    },
    body(given, size) {
      if (given === undefined || given.length === 0) return undefined
      const bytes = typeof given === 'string' ? Buffer.from(given) : given
      const whole = size ?? bytes.length
      const window = bytes.subarray(0, WINDOW_BYTES)
      const text = textOf(window)
      const masked = json(text ?? window.toString('latin1'))
      const kept = whole > window.length ? masked.slice(0, -longest) : masked
      const isCut = whole > MOST_BODY_BYTES
      if (text !== undefined) return { text: truncated(kept), ...(isCut && { cut: whole }) }
      const latin1 = Buffer.from(kept.replaceAll(MASK, '...'), 'latin1')
      const base64 = latin1.subarray(0, MOST_BODY_BYTES).toString('base64')
      return { text: base64, base64: true, ...(isCut && { cut: whole }) }
    },
  }
}

/** A secret as it may be written in a body, an address or a header. */
function spellings(secret: string | undefined): string[] {
  if (!secret || secret.length < SHORTEST_KNOWN) return []
  const json = JSON.stringify(secret).slice(1, -1)
  const latin1 = Buffer.from(secret).toString('latin1')
  return [secret, json, latin1, ...(secret.isWellFormed() ? [encodeURIComponent(secret)] : [])]
}

const unescaped = (text: string): string =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** undefined unless the bytes are UTF-8; a character that was cut off at the end does not count. */
function textOf(bytes: Buffer): string | undefined {
  for (let cut = 0; cut < 4; cut++) {
    const whole = bytes.subarray(0, bytes.length - cut)
    if (isUtf8(whole)) return whole.toString('utf8')
  }
  return undefined
}

/** The first 8 KiB of text in UTF-8, without half a character at the end. */
function truncated(text: string): string {
  if (Buffer.byteLength(text) <= MOST_BODY_BYTES) return text
  return textOf(Buffer.from(text).subarray(0, MOST_BODY_BYTES)) ?? ''
}
