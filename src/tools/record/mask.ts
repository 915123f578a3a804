/** Secrets are masked before a row is made: the database, its backups and exports never hold them. */
import { isUtf8 } from 'node:buffer'
import { HEADER_VALUE_BYTES, HEADERS_BYTES, RECORDED_BODY_BYTES } from '../../core/budgets.ts'
import { decodeAscii } from '../../platform/http/addresses.ts'
import type { Headers, KeptBody } from './exchange.ts'

export const MASK = '…'

/**
 * Texts with the form of a secret, and texts that must not be mistaken for one. In this order: a UUID; a
 * signature or another SHA-256, which may have many digits in a row; an identifier, or a token, which is a payment's
 * identifier and a secret of the same length; an API key or a signing key; 12 to 19 digits, also in groups of four as on
 * a card.
 */
const BY_FORM =
  /(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)|(?<sha256>(?<![0-9a-z])(?:[0-9a-f]{64}|[0-9A-F]{64})(?![0-9a-z]))|(?<![0-9a-v])(?<id>[0-9a-v]{26})(?<secret>[0-9a-v]{26})?(?![0-9a-v])|(?<prefix>(?:api|webhook)_test_)[0-9A-Za-z]+|(?<!\d)(?:\d{12,19}|\d{4}(?<gap>[ -])\d{4}\k<gap>\d{4}\k<gap>\d{1,7}|\d{4}(?<amexGap>[ -])\d{6}\k<amexGap>\d{5})(?!\d)/g

/** Only words of this length can hold a secret, except for digits in groups. Skipping all other text halves the time. */
const WORD = /\b[\w-]{12,}/g
const DIGITS_IN_GROUPS = /\d{4} \d{4,6}/

/**
 * Names of values that are secret, also misspelt. `one_time_token` and `chargeTokenId` are left out: BY_FORM masks only
 * their secret half and leaves the payment's identifier readable.
 */
const SECRET_NAME =
  'cv[cv]|csc|security_?code|signing_?key|authorization|cookie|passw(?:or)?d|secret|(?<!one_time_)token(?!id)|api[-_]?key'

/** Tests whether a text can have such a name. That is ten times as fast as to look for it. */
const HAS_NAME = new RegExp(SECRET_NAME, 'i')

/** `"cvc": ` in JSON, also in JSON within a string of JSON, whose quotes have a backslash. The value follows. */
const IN_JSON = new RegExp(
  `(?<!\\\\)(\\\\*)"[^"\\\\]{0,40}(?:${SECRET_NAME})[^"\\\\]{0,40}\\1"\\s*:\\s*`,
  'gi',
)

/** `token=abc` in a form, in a query, and in an address that stands in other text. */
const IN_QUERY = new RegExp(
  `((?:^|[?&;#])[^=&;#?\\s"'<>\\\\]{0,40}(?:${SECRET_NAME})[^=&;#?\\s"'<>\\\\]{0,40}=)[^&;#\\s"'<>\\\\]+`,
  'gi',
)

const SECRET_HEADER =
  /^(?:(?:set-)?cookie2?|(?:proxy-)?authorization|(?:.+-)?api-?key|x-(?:.+-)?token)$/i

/** Characters that are left out at the end of a cut body, because it may end within a secret. */
const LONGEST_SECRET = 128
/** Masking makes text shorter, so more text is masked than is kept. */
const WINDOW_BYTES = 3 * RECORDED_BODY_BYTES

const maskForms = (text: string): string => text.replace(BY_FORM, maskForm)

/**
 * Whether a text may hold what BY_FORM masks: 12 digits, also in groups, 52 characters of a token, or a key. Most texts
 * do not, and to look for that takes a seventh of the time.
 */
function mayHoldSecret(text: string): boolean {
  let [ofId, digits] = [0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= 0x30 && code <= 0x39
    if (isDigit) digits += 1
    else if (code !== 0x20 && code !== 0x2d) digits = 0 // groups have a space or a hyphen between them
    if (isDigit || (code >= 0x61 && code <= 0x76)) ofId += 1
    else ofId = 0
    if (digits === 12 || ofId === 52) return true
  }
  return text.includes('_test_')
}

const maskWord = (word: string): string => (mayHoldSecret(word) ? maskForms(word) : word)

function maskForm(match: string, ...rest: unknown[]): string {
  const { uuid, sha256, id, secret, prefix } = rest.at(-1) as Record<string, string | undefined> // named groups come last
  if (uuid ?? sha256) return match
  if (id) return secret ? id + MASK : id
  return (prefix ?? '') + MASK
}

/** Masks the values with such names in JSON, in a form or in a query. */
function maskNamed(text: string): string {
  if (!HAS_NAME.test(text)) return text
  let masked = ''
  let from = 0
  IN_JSON.lastIndex = 0
  for (let match = IN_JSON.exec(text); match; match = IN_JSON.exec(text)) {
    const [name, slashes = ''] = match
    const begins = match.index + name.length
    masked += `${text.slice(from, begins)}${slashes}"${MASK}${slashes}"`
    from = endOfValue(text, begins, slashes.length)
    IN_JSON.lastIndex = from
  }
  return (masked + text.slice(from)).replace(IN_QUERY, `$1${MASK}`)
}

/** Strings, brackets, and all else of a JSON value; each alternative matches in one way. */
const PART = /\\+"?|"|[[{]|[\]}]|[,\s]|[^"\\[{\]},\s]+/g

/** The end of the JSON value at `begins`, or of the text if it is cut. `slashes`: the backslashes before its quotes. */
function endOfValue(text: string, begins: number, slashes: number): number {
  let open = 0
  let isString = false
  PART.lastIndex = begins
  for (let match = PART.exec(text); match; match = PART.exec(text)) {
    const [part] = match
    if (part.endsWith('"')) {
      // A string ends at a quote with 0, 2, 4... backslashes before it if `slashes` is 0, and with 1, 5, 9... if it is 1.
      const ends = (part.length - 1) % (2 * (slashes + 1)) === slashes
      if (!isString || ends) isString = !isString
      if (!isString && open === 0) return PART.lastIndex
    } else if (isString) continue
    else if (/^[[{]/.test(part)) open += 1
    else if (/^[\]}]/.test(part)) {
      if (open === 0) return match.index
      open -= 1
      if (open === 0) return PART.lastIndex
    } else if (/^[,\s]/.test(part) && open === 0) return match.index
  }
  return text.length
}

/** Known secrets shorter than this are not masked by value: they could be ordinary words. */
const SHORTEST_KNOWN = 8

export type Mask = ReturnType<typeof createMask>

/** `secrets` are the secrets that the service knows: the request's key, tokens, keys of the settings. */
export function createMask(secrets: readonly (string | undefined)[]) {
  const values = [...new Set(secrets.flatMap(spellings))].sort((a, b) => b.length - a.length)
  const longest = Math.max(LONGEST_SECRET, values[0]?.length ?? 0)

  function plain(text: string): string {
    let masked = maskNamed(text)
    for (const value of values) if (masked.includes(value)) masked = masked.replaceAll(value, MASK)
    if (!mayHoldSecret(masked)) return masked
    return DIGITS_IN_GROUPS.test(masked) ? maskForms(masked) : masked.replace(WORD, maskWord)
  }

  /** Masks all of the text if decoding shows a secret that is still in it. */
  function encoded(text: string, decode: (text: string) => string): string {
    const masked = plain(text)
    const decoded = decode(masked)
    return decoded === masked || plain(decoded) === decoded ? masked : MASK
  }

  /** Masks no more than can be kept. The end is dropped: half of a secret would not match BY_FORM. */
  function cut(maskAll: (text: string) => string, text: string, most: number): string {
    const window = text.slice(0, most + 2 * longest)
    const masked = maskAll(window)
    if (window.length === text.length && Buffer.byteLength(masked) <= most) return masked
    return `${truncated(window.length < text.length ? masked.slice(0, -longest) : masked, most)}${MASK}`
  }

  return {
    text: plain,
    /** Masks a path or a query, all of it if percent-encoding hides a secret, and cuts it after `most` bytes. */
    url: (text: string, most = Infinity) => cut(part => encoded(part, decodeAscii), text, most),
    /** The headers, whose names and values have HEADERS_BYTES together at most. */
    headers(headers: readonly (readonly [name: string, value: string])[]): Headers {
      const lines: [name: string, value: string][] = []
      let left = HEADERS_BYTES
      for (const [name, value] of headers) {
        if (left <= 0) break
        const shortName = truncated(name, Math.min(left, HEADER_VALUE_BYTES))
        left -= Buffer.byteLength(shortName)
        const most = Math.min(left, HEADER_VALUE_BYTES)
        // People compare signatures. A signature has the length of a secret but is not one.
        const isSignature = /^pay-signature$/i.test(name)
        const text = SECRET_HEADER.test(name)
          ? MASK
          : cut(isSignature ? text => text : plain, value, most)
        lines.push([shortName, text])
        left -= Buffer.byteLength(text)
      }
      return Object.fromEntries(lines)
    },
    /** The first RECORDED_BODY_BYTES; undefined for an empty body. `size` is that of the whole if `body` is cut. */
    body(body: Buffer | string | undefined, size?: number): KeptBody | undefined {
      if (body === undefined || body.length === 0) return undefined
      const bytes = typeof body === 'string' ? Buffer.from(body) : body
      const whole = size ?? bytes.length
      const window = bytes.subarray(0, WINDOW_BYTES)
      const isBeginning = whole > window.length
      const text = textOf(window, isBeginning)
      const masked = encoded(text ?? window.toString('latin1'), unescaped)
      const cutText = isBeginning ? masked.slice(0, -longest) : masked
      const isCut = whole > RECORDED_BODY_BYTES
      if (text !== undefined)
        return { text: truncated(cutText, RECORDED_BODY_BYTES), ...(isCut && { cut: whole }) }
      // Latin-1 has no `…`.
      const latin1 = Buffer.from(cutText.replaceAll(MASK, '...'), 'latin1')
      const base64 = latin1.subarray(0, RECORDED_BODY_BYTES).toString('base64')
      return { text: base64, base64: true, ...(isCut && { cut: whole }) }
    },
  }
}

/** A secret as it may be written in a body, an address or a header. */
function spellings(secret: string | undefined): string[] {
  if (!secret || secret.length < SHORTEST_KNOWN) return []
  if (/^[\w-]+$/.test(secret)) return [secret]
  const json = JSON.stringify(secret).slice(1, -1)
  const latin1 = Buffer.from(secret).toString('latin1')
  return [secret, json, latin1, ...(secret.isWellFormed() ? [encodeURIComponent(secret)] : [])]
}

const unescaped = (text: string): string =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))

/** undefined unless the bytes are UTF-8. Only the beginning of a body may end within a character, which is left out. */
function textOf(bytes: Buffer, isBeginning: boolean): string | undefined {
  for (let cut = 0; cut < (isBeginning ? 4 : 1); cut++) {
    const whole = bytes.subarray(0, bytes.length - cut)
    if (isUtf8(whole)) return whole.toString('utf8')
  }
  return undefined
}

/** The first bytes of text in UTF-8, without half a character at the end. */
export function truncated(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most))
  return text.slice(0, read)
}
