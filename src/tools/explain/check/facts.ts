/** Reads from an exchange, when it is recorded, what the rules need of it: bodies and card numbers are at hand only then. */
import { hash } from 'node:crypto'
import { unescape as decoded } from 'node:querystring'
import { isSuccess } from '../../../core/http-status.ts'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import { formOf, isForm } from '../../../platform/http/body.ts'
import type { Created, Facts, Headers } from '../../record/exchange.ts'
import { type AnsweredAttempt, bytesOf, effectFacts, type RawRequest } from '../../record/row.ts'
import { partsOf } from './values.ts'

/** A request under /v1 and its response as the production rules see them. */
export type ReadRequest = ReturnType<typeof readRequest>

/** `headers`: in lower case. */
export function readRequest(raw: RawRequest, headers: Readonly<Headers>) {
  const [, query] = raw.url.split(/\?(.*)/s)
  const text = String(bytesOf(raw.requestBody) ?? '')
  return {
    ...raw,
    headers,
    query: new URLSearchParams(query),
    /** '' without a body. */
    text,
    /** The fields of the JSON or of the form; {} without any. */
    body: isForm({ headers }) ? Object.fromEntries(formOf(raw.requestBody) ?? []) : fieldsOf(text),
    /** The body of the response; '' for none. */
    response: String(bytesOf(raw.responseBody) ?? ''),
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(text: string): Fields {
  if (text === '') return {}
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}

/** The User-Agent of Farthing's own commands. */
const OWN = /^farthing\//

/** What is kept of a request beside the rules that it breaks. Pages are not read. */
export function factsOfRequest(raw: RawRequest, headers: Headers, read?: ReadRequest): Facts {
  const { operation, kind, ended, caused, payment } = raw
  const effect = effectFacts(payment, caused)
  const isNamed = kind === 'page' ? effect.state : operation === 'createPayment'
  return {
    ...effect,
    ...(OWN.test(headers['user-agent'] ?? '') && { own: true }),
    ...(isNamed && payment && { reference: short(payment.given.reference.toLowerCase()) }),
    ...(read && ended !== 'reset' && ended !== 'replaced' && responseFacts(read)),
    ...(read?.refusal && { refused: short(`${raw.url}\n${read.text}`) }),
    ...(read && bodyFacts(read)),
  }
}

export function factsOfAttempt({ url, answer, byHand, body, failed }: AnsweredAttempt): Facts {
  const { kind, other_key, words } = byHand ?? {}
  const isAgain = kind === 'again' && !other_key
  const headers = answer?.headers ?? []
  return {
    ...(byHand && { hand: isAgain ? 'again' : 'other' }),
    ...(kind === 'probe' && words && { probe: words.replace(/:.*/s, '') }),
    ...(headers.some(([name]) => /^farthing-receiver$/i.test(name)) && { test: true }),
    ...(isListenerAddress(url) && !failed && headers.length === 0 && { printed: true }),
    ...(body.includes('"resource_type":"PAYMENT"') && { govuk: true }),
  }
}

/** A hash for comparisons among the exchanges of one account. */
export const short = (text: string): string => hash('sha1', text, 'base64url').slice(0, 10)

const IDENTIFIERS = /"payment_id":"[0-9a-v]{21}([0-9a-v]{5})"/g
/** Splits `listed` into its ends of five characters, which tell the payments of one account apart. */
export const LISTED_ENDS = /.{5}/g
/** The payments of one search that are kept. */
const MOST_LISTED = 40

/** The ends of identifiers of the payments that a search listed. `all`: more than are kept. */
function listedIn(response: string): Facts {
  const ends = [...new Set([...response.matchAll(IDENTIFIERS)].map(([, end]) => end))]
  return ends.length > MOST_LISTED ? { listed: 'all' } : { listed: ends.join('') }
}

function aboutIn(text: string, pattern: RegExp): Facts {
  const [, about] = pattern.exec(text) ?? []
  return about ? { about } : {}
}

function responseFacts({ operation, status, response }: ReadRequest): Facts {
  if (!isSuccess(status)) return {}
  if (operation === 'searchPayments') return listedIn(response)
  if (operation === 'createWebhook') return aboutIn(response, /"external_id":"([0-9a-v]{26})"/)
  const isOfRefund = /refund/i.test(operation)
  return isOfRefund && response.includes('"status":"error"') ? { failedRefund: true } : {}
}

function bodyFacts(read: ReadRequest): Facts {
  const { operation, url, query, body } = read
  switch (operation) {
    case 'createPayment':
      return { created: createdBy(read) }
    case 'refundPayment': {
      const isGuarded = 'refund_amount_available' in body
      return { refund: textOf(body.amount).slice(0, 10), ...(isGuarded && { isGuarded }) }
    }
    case 'searchPayments': {
      const reference = query.get('reference')?.toLowerCase()
      return reference ? { searched: short(reference) } : {}
    }
    case 'cancelAgreement':
      return aboutIn(url, /([0-9a-v]{26})\/cancel/)
    default:
      return {}
  }
}

function createdBy({ body, text, headers, status }: ReadRequest): Created {
  const { authorisation_mode: mode } = body
  // Values of a refused create are of any length and number: to compare them would take a second.
  const told = status === 201 ? tellsOf(body) : []
  return {
    mode: mode === 'moto_api' || mode === 'agreement' ? mode : 'web',
    content: short(text),
    ...(headers['idempotency-key'] !== undefined && { key: true }),
    ...(body.moto === true && { moto: true }),
    ...(typeof body.set_up_agreement === 'string' && { agreement: true }),
    ...(told.length > 0 && { told }),
  }
}

/** Metadata shorter than this is ignored: it may match by chance. */
const LEAST_METADATA = 6
/** GOV.UK Pay recommends a secure random identifier in return_url, so values like this are not reported. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])[\w-]{16,}$/i
const MOST_TOLD = 5

/** What return_url tells: `reference`, `email`, and of each entry of metadata a hash of its name and one of its value. */
function tellsOf({ return_url, reference, email, metadata }: Fields): string[] {
  if (typeof return_url !== 'string') return []
  const { path, query } = partsOf(return_url)
  const parts = path.split('/').map(decoded)
  if (query !== '') parts.push(...new URLSearchParams(query).values())
  const tells = (value: unknown): boolean => {
    const text = textOf(value)
    const isIn = (part: string) =>
      part === text || (part.endsWith(text) && /[_=.-]$/.test(part.slice(0, -text.length)))
    return text !== '' && parts.some(isIn)
  }
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : []
  const isCounted = (value: unknown) =>
    textOf(value).length >= LEAST_METADATA && !RANDOM.test(textOf(value)) && value !== reference
  return [
    ...(tells(reference) ? ['reference'] : []),
    ...(tells(email) ? ['email'] : []),
    ...entries
      .filter(([, value]) => isCounted(value) && tells(value))
      .map(([name, value]) => `${short(name).slice(0, 4)}:${short(textOf(value)).slice(0, 6)}`),
  ].slice(0, MOST_TOLD)
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
