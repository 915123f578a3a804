/** Reads the facts that the rules need when an exchange is recorded: only then are bodies and card numbers available. */
import { hash } from 'node:crypto'
import { unescape as decoded } from 'node:querystring'
import { isSuccess } from '../../../core/http-status.ts'
import { parsedJson } from '../../../core/values.ts'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import { formOf, isForm } from '../../../platform/http/body.ts'
import type { Created, Facts, Headers } from '../../record/exchange.ts'
import { type AnsweredAttempt, bytesOf, effectFacts, type RawRequest } from '../../record/row.ts'

/** A request under /v1 and its response as the rules of the differences see them. */
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
    /** Milliseconds of the account's time since the payment became success. */
    sinceSuccess:
      raw.at - (raw.payment?.events.find(({ status }) => status === 'success')?.at ?? NaN),
  }
}

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(text: string): Fields {
  const value = text === '' ? undefined : parsedJson(text)
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The User-Agent of Farthing's own commands. */
const OWN = /^farthing\//

/** The facts of a request, except the rules that it breaks. Bodies of pages are not read. */
export function factsOfRequest(raw: RawRequest, headers: Headers, read?: ReadRequest): Facts {
  const { operation, kind, ended, caused, payment } = raw
  const effect = effectFacts(payment, caused)
  const isNamed = kind === 'page' ? effect.state : operation === 'createPayment'
  const reference = payment?.given.reference.toLowerCase()
  return {
    ...effect,
    ...(OWN.test(headers['user-agent'] ?? '') && { own: true }),
    ...(isNamed && reference !== undefined && { reference: short(reference) }),
    ...(read && ended === 'sent' && isSuccess(raw.status) && answerFacts(read)),
    ...(read && bodyFacts(read)),
  }
}

export function factsOfAttempt(attempt: AnsweredAttempt): Facts {
  const { url, answer, byHand, body, failed, redirected } = attempt
  const { kind, other_key, words } = byHand ?? {}
  const isAgain = kind === 'again' && !other_key
  const headers = answer?.headers ?? []
  const [, state] = STATE.exec(body) ?? []
  const shown = state && (CODE.exec(state)?.[0] ?? stateIn(state))
  return {
    ...(byHand && { hand: isAgain ? 'again' : 'other' }),
    ...(kind === 'probe' && words && { probe: words.replace(/:.*/s, '') }),
    ...(headers.some(([name]) => /^farthing-receiver$/i.test(name)) && { test: true }),
    ...(isListenerAddress(url) && !failed && headers.length === 0 && { printed: true }),
    ...(body.includes('"resource_type":"PAYMENT"') && { govuk: true }),
    ...(shown && { shown }),
    ...(redirected !== undefined && { redirected }),
  }
}

/** A hash for comparisons among the exchanges of one account. */
export const short = (text: string): string => hash('sha1', text, 'base64url').slice(0, 10)

/** The last characters of an identifier, which distinguish the identifiers of one account. */
export const endOf = (id: string): string => id.slice(-END)
const END = 5

/** Splits a text of `Facts.listed` into ends of identifiers; '' alone stands for any. */
export const endsIn = (ends: string): string[] => ends.match(/.{5}/g) ?? ['']

const STATE = /"state":\{([^{}]*)\}/
const CODE = /P\d{4}/

/** Writes the fields of a state in the form of `Facts.state`. */
function stateIn(fields: string): string {
  const [, status] = /"status":"(\w+)"/.exec(fields) ?? []
  const [code] = CODE.exec(fields) ?? []
  const [, retry] = /"can_retry":(true|false)/.exec(fields) ?? []
  return [status, code, retry && (retry === 'true' ? 'again' : 'final')].filter(Boolean).join(' ')
}

const ITEMS = /"payment_id":"([0-9a-v]{26})"|"state":\{([^{}]*)\}/g
/** The most payments of one search that are kept. */
const MOST_LISTED = 30

function listedIn(response: string): Facts {
  const listed = new Map<string, Set<string>>()
  let end = ''
  for (const [, id, state] of response.matchAll(ITEMS))
    if (id === undefined) {
      const shown = stateIn(state ?? '')
      listed.set(shown, (listed.get(shown) ?? new Set()).add(end))
    } else end = endOf(id)
  const count = [...listed.values()].reduce((sum, { size }) => sum + size, 0)
  const kept = [...listed].map(([state, ends]) => [state, [...ends].join('')])
  if (count <= MOST_LISTED) return { listed: Object.fromEntries(kept) }
  return { listed: Object.fromEntries(kept.map(([state]) => [state, ''])) }
}

/** The facts of a successful answer that arrived. */
function answerFacts({ operation, query, response }: ReadRequest): Facts {
  if (operation === 'createWebhook') return aboutIn(response, /"external_id":"([0-9a-v]{26})"/)
  if (!operation.startsWith('search')) return shownIn(operation, response)
  const isLater = (query.get('page') ?? '1') !== '1'
  // A search for one result wants the newest, and needs no other page.
  const isFirst = query.get('display_size') !== '1' && response.includes('"next_page":{"href"')
  const page = isLater ? 'later' : isFirst ? 'first' : undefined
  return { ...shownIn(operation, response), ...(page && { page }) }
}

function shownIn(operation: string, response: string): Facts {
  if (operation === 'searchPayments') return listedIn(response)
  if (/refund/i.test(operation)) {
    const statuses = response.match(/"status":"(?:submitted|success|error)"/g)
    const worst = statuses?.toSorted()[0]?.slice('"status":"'.length, -1)
    return worst ? { shown: `refund ${worst}` } : {}
  }
  // The last event of a payment has its state.
  const from = operation === 'listPaymentEvents' ? response.lastIndexOf('"state"') : 0
  const [, state] = STATE.exec(response.slice(from)) ?? []
  return state === undefined ? {} : { shown: stateIn(state) }
}

function aboutIn(text: string, pattern: RegExp): Facts {
  const [, about] = pattern.exec(text) ?? []
  return about ? { about } : {}
}

function bodyFacts(read: ReadRequest): Facts {
  const { operation, url, query, body, method, text, agreement } = read
  const reference = query.get('reference')?.toLowerCase()
  return {
    ...(method === 'POST' && { content: short(`${url}\n${text}`) }),
    ...(agreement && { agreement }),
    ...(operation === 'createPayment' && { created: createdBy(read) }),
    ...(operation === 'refundPayment' && 'refund_amount_available' in body && { isGuarded: true }),
    ...(operation === 'searchPayments' && reference && { searched: short(reference) }),
    ...(operation === 'readRefund' && aboutIn(url, /([0-9a-v]{5})(?:\?|$)/)),
  }
}

function createdBy({ body, headers, status }: ReadRequest): Created {
  const { authorisation_mode: mode } = body
  const agreement = textOf(body.set_up_agreement ?? body.agreement_id)
  // A refused create may have values of any length and number: comparing them would take a second.
  const told = status === 201 ? detailsIn(body) : []
  return {
    mode: mode === 'moto_api' || mode === 'agreement' ? mode : 'web',
    ...(headers['idempotency-key'] !== undefined && { key: true }),
    ...(body.moto === true && { moto: true }),
    ...(agreement !== '' && { agreement: endOf(agreement) }),
    ...(told.length > 0 && { told }),
  }
}

/** The parts of an address as written, because a parser would encode them. `query` is without its question mark. */
export function partsOf(url: unknown): { host: string; path: string; query: string } {
  const [, host = '', path = '', query = ''] =
    /^[a-z]+:\/\/(?:[^/?#@]*@)?([^/?#:]*)[^/?#]*([^?#]*)\??([^#]*)/i.exec(String(url)) ?? []
  return { host, path, query }
}

/** Metadata shorter than this is ignored: it may match by chance. */
const LEAST_METADATA = 6
/** GOV.UK Pay recommends a secure random identifier in return_url, so values like this are not reported. */
const RANDOM = /^(?=.*\d)(?=.*[a-z])[\w-]{16,}$/i
const MOST_DETAILS = 5

/** Details of the payment in return_url: `reference`, `email`, hashes of name and value of each entry of metadata. */
function detailsIn({ return_url, reference, email, metadata }: Fields): string[] {
  if (typeof return_url !== 'string') return []
  const { path, query } = partsOf(return_url)
  const parts = path.split('/').map(decoded)
  if (query !== '') parts.push(...new URLSearchParams(query).values())
  const isShown = (value: unknown): boolean => {
    const text = textOf(value)
    const isIn = (part: string) =>
      part === text || (part.endsWith(text) && /[_=.-]$/.test(part.slice(0, -text.length)))
    return text !== '' && parts.some(isIn)
  }
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : []
  const isCounted = (value: unknown) =>
    textOf(value).length >= LEAST_METADATA && !RANDOM.test(textOf(value)) && value !== reference
  return [
    ...(isShown(reference) ? ['reference'] : []),
    ...(isShown(email) ? ['email'] : []),
    ...entries
      .filter(([, value]) => isCounted(value) && isShown(value))
      .map(([name, value]) => `${short(name).slice(0, 4)}:${short(textOf(value)).slice(0, 6)}`),
  ].slice(0, MOST_DETAILS)
}

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
