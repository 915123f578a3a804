/** What the rules over the record look at, in a small fraction of the memory that the exchanges take. */
import { hash } from 'node:crypto'
import { isListenerAddress } from '../../../pay/webhooks/listener.ts'
import type { Exchange, KeptBody } from '../../record/exchange.ts'
import { MASK } from '../../record/mask.ts'
import { RULE_SET } from './production.ts'

export type Seen = Pick<
  Exchange,
  | 'exchange_id'
  | 'kind'
  | 'operation'
  | 'method'
  | 'status'
  | 'at'
  | 'began'
  | 'ms'
  | 'payment_id'
  | 'message_id'
  | 'webhook_id'
  | 'code'
  | 'field'
  | 'broken'
  | 'unjudged'
  | 'reference'
> & {
  /** The client cannot know what it did: it had left, or a plan reset the connection or replaced the response. */
  isLost: boolean
  /** A plan made the response. */
  isReplaced: boolean
  /** The payment changed. */
  isChange: boolean
  /** A test decides what the receiver answers: it says so in the header that those of `farthing/testing` send. */
  isOfTest: boolean
  /** The rules of this version looked at it when it was recorded. */
  isJudged: boolean
  /** A message that `farthing listen` only printed. */
  isPrinted: boolean
  /** An attempt that somebody made by hand; `again`: the message as it is, to its own receiver. */
  byHand?: 'again' | 'other'
  /** Of a create whose body is kept. */
  created?: Created
  /** Of a search: the payments that it listed, as far as the response is kept. */
  listed?: readonly string[]
  /** Only the beginning of the response is kept, so it may have listed more. */
  isCut?: true
  /** Of a search: what it searched for, in lower case. */
  searched?: string
  /** On the pages: the payment ended with it. */
  isEnd?: boolean
  /** Of a refusal: a hash of what was refused. */
  refused?: string
  /** Of an attempt: the status line, or why there is none. */
  result?: string
  /** The agreement or webhook that the request is about. */
  about?: string
}

export type Created = {
  mode: 'web' | 'moto_api' | 'agreement'
  hasKey: boolean
  /** The same for equal requests. */
  content: string
  isMoto: boolean
  setsUpAgreement: boolean
  /** return_url contains the reference, the email or metadata. undefined where the record has masked a part of it. */
  tells: boolean | undefined
}

const noneOf = (headers: object): boolean => Object.keys(headers).length === 0

export function seenOf(exchange: Exchange): Seen {
  const { exchange_id, kind, operation, method, status, at, began, ms } = exchange
  const { payment_id, message_id, webhook_id, code, field, reference } = exchange
  const { judged, broken, unjudged, ended, caused, result, by_hand, path, response_headers } =
    exchange
  const isFresh = by_hand?.kind === 'again' && !by_hand.other_key && !by_hand.other_address
  return {
    exchange_id,
    kind,
    operation,
    method,
    status,
    at,
    began,
    ms,
    payment_id,
    message_id,
    isLost: ended !== 'sent' && payment_id !== null,
    isReplaced: ended === 'replaced' || ended === 'reset',
    isChange: (caused?.events.length ?? 0) > 0,
    isOfTest: Object.keys(response_headers).some(name => /^farthing-receiver$/i.test(name)),
    isJudged: judged === RULE_SET,
    isPrinted: kind === 'out' && isListenerAddress(path) && noneOf(response_headers),
    ...(webhook_id !== undefined && { webhook_id }),
    ...(code !== undefined && { code }),
    ...(field !== undefined && { field }),
    ...(broken && { broken }),
    ...(unjudged && { unjudged }),
    ...(reference !== undefined && { reference }),
    ...(result !== undefined && { result }),
    ...(by_hand && { byHand: isFresh ? 'again' : 'other' }),
    ...detailsOf(exchange),
  }
}

function detailsOf(exchange: Exchange): Partial<Seen> {
  const { kind, operation, path, query, status, code } = exchange
  if (kind === 'page') return { isEnd: isEnd(exchange) }
  if (kind !== 'api') return {}
  const refused = code === undefined ? {} : { refused: refusedValue(exchange) }
  switch (operation) {
    case 'createPayment': {
      const created = createdBy(exchange)
      return { ...refused, ...(created && { created }) }
    }
    case 'searchPayments': {
      const searched = new URLSearchParams(query).get('reference')?.toLowerCase()
      return { ...refused, ...listedBy(exchange), ...(searched && { searched }) }
    }
    case 'createWebhook':
      return { ...refused, ...(status === 201 && { about: identifierIn(exchange.response_body) }) }
    case 'cancelAgreement':
      return { ...refused, about: /([0-9a-v]{26})\/cancel/.exec(path)?.[1] ?? '' }
    default:
      return refused
  }
}

/** The first choice on the pages that ends a payment, or the confirmation. */
function isEnd({ operation, caused, request_body }: Exchange): boolean {
  if ((caused?.events.length ?? 0) === 0) return false
  if (operation === 'confirmPayment') return true
  const form = new URLSearchParams(request_body?.text ?? '')
  const scenario = form.get('scenario') ?? ''
  return form.get('step') === 'confirm' || ['declined', 'error', 'cancel'].includes(scenario)
}

/** undefined where only the beginning of the body is kept. */
function fieldsOf(kept: KeptBody | undefined): Record<string, unknown> | undefined {
  if (!kept || kept.cut !== undefined || kept.base64) return undefined
  try {
    const parsed: unknown = JSON.parse(kept.text)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined
  } catch {
    return undefined
  }
}

function createdBy({ request_headers, request_body }: Exchange): Created | undefined {
  const fields = fieldsOf(request_body)
  if (!fields) return undefined
  const { authorisation_mode: mode } = fields
  return {
    mode: mode === 'moto_api' || mode === 'agreement' ? mode : 'web',
    hasKey: request_headers['idempotency-key'] !== undefined,
    content: hash('sha1', request_body?.text ?? ''),
    isMoto: fields.moto === true,
    setsUpAgreement: typeof fields.set_up_agreement === 'string',
    tells: tells(fields),
  }
}

/** Shorter values could be in an address by chance, and so could words. */
const LEAST_TOLD = 6
const NO_WORD = /[\d@\s]/
/** Random, so it tells nothing. */
const UUID = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

function tells({
  return_url,
  reference,
  email,
  metadata,
}: Record<string, unknown>): boolean | undefined {
  const url = URL.parse(String(return_url))
  if (!url) return false
  const written = url.pathname + url.search + url.hash
  const shown = `${decoded(written)} ${decoded(written.replaceAll('+', ' '))}`
  const values = typeof metadata === 'object' && metadata !== null ? Object.values(metadata) : []
  const isTold = [reference, email, ...values]
    .filter(value => typeof value === 'string' || typeof value === 'number')
    .map(String)
    .filter(value => value.length >= LEAST_TOLD && NO_WORD.test(value) && !UUID.test(value))
    .some(value => shown.includes(value))
  return !isTold && shown.includes(MASK) ? undefined : isTold
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const IDENTIFIERS = /"payment_id":"([0-9a-v]{26})"/g

function listedBy({ response_body: kept }: Exchange): Pick<Seen, 'listed' | 'isCut'> {
  const found = [...(kept?.text ?? '').matchAll(IDENTIFIERS)]
  const listed = found.map(([, payment_id = '']) => payment_id)
  return { listed, ...(kept?.cut !== undefined && { isCut: true }) }
}

const identifierIn = (kept: KeptBody | undefined): string =>
  /"external_id":"([0-9a-v]{26})"/.exec(kept?.text ?? '')?.[1] ?? ''

/** The same for requests that were refused for the same value or, where that is not known, that are equal. */
function refusedValue({ field, path, query, request_body }: Exchange): string {
  const value = field === undefined ? undefined : fieldsOf(request_body)?.[field]
  if (value !== undefined) return hash('sha1', JSON.stringify(value))
  return hash('sha1', [path, query, request_body?.text].join('\n'))
}
