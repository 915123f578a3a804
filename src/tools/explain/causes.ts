/** Explains in one sentence why an attempt failed and what to do. */

import { isSuccess } from '../../core/http-status.ts'
import { asTypedHere } from '../../core/invocation.ts'
import { NOBODY_LISTENS } from '../../pay/webhooks/listener.ts'
import type { Exchange } from '../record/exchange.ts'

/** How an attempt ended. Without a status, `result` is the reason, with Node's code in brackets if that is known. */
export type AttemptEnding = Pick<Exchange, 'status' | 'result' | 'response_body' | 'by_hand'>

/** undefined for an attempt that succeeded. */
export function causeOf({ status, result = '', response_body }: AttemptEnding): string | undefined {
  if (status === null) return withoutStatus(result)
  if (isSuccess(status)) return undefined
  const answered = `The receiver answered ${withoutControls(result)}`
  if (status >= 300 && status <= 399)
    return `${answered}, a redirect. 3xx counts as failed: register the address it leads to.`
  const meaning =
    meanings[status] ??
    (status >= 500
      ? 'The receiver has a fault: its log says more.'
      : 'Only 2xx counts as delivered.')
  return `${answered}${firstLine(response_body)}. ${meaning}`
}

const SIGNATURE = 'Most often the signature does not match there: compare the signatures.'
const PATH = 'Is the path of the callback URL right?'
const meanings: Record<number, string> = {
  401: SIGNATURE,
  403: SIGNATURE,
  404: PATH,
  405: 'The receiver does not take POST at this path.',
  410: PATH,
  413: 'The receiver, or a proxy before it, takes no body of this size.',
  415: 'The receiver does not take application/json.',
  429: 'The receiver limits how many requests it takes.',
}

/** The code of Node in brackets after a reason. */
const CODE = /^(.*) \(([A-Z0-9_]+)\)$/

/** The reason why no connection was made, or why it ended early, by Node's code. */
const connections: Record<string, string> = {
  ECONNREFUSED: 'is the receiver running, and is the port right?',
  EHOSTUNREACH: 'its machine cannot be reached from Farthing.',
  ENETUNREACH: 'its network cannot be reached from Farthing.',
  ECONNRESET: 'the receiver closed it before it answered. Its log says more.',
  EPIPE: 'the receiver closed it before it answered. Its log says more.',
}

const NO_AUTHORITY = 'its authority is not known here: name the authority in NODE_EXTRA_CA_CERTS'
/** The problem of a certificate, for the codes that are seen most. */
const certificates: Record<string, string> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is signed by itself: name its authority in NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: NO_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the receiver does not send the certificates between it and a known authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NO_AUTHORITY,
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host name',
}

function withoutStatus(result: string): string {
  const [, reason = result, code = ''] = CODE.exec(result) ?? []
  const coded = code && ` (${code})`
  switch (reason) {
    case 'timeout':
      return 'The receiver did not answer within 2 seconds: answer first and do the work afterwards. If the receiver also made the request that sends the message, it must serve two at once.'
    case 'name not resolved':
      return 'The host name of the callback URL has no address: is it spelt right, and known where Farthing runs?'
    case 'address refused':
      return 'The callback URL leads to an address that Farthing does not connect to, such as a private one: add its host to FARTHING_CALLBACK_HOSTS, or in a test to callbackHosts of startFarthing.'
    case 'tls failed':
      return certificates[code]
        ? `The certificate of the receiver was not accepted${coded}: ${certificates[code]}.`
        : `No secure connection to the receiver could be made${coded}: does it speak https at this port, with a certificate that is valid?`
    case NOBODY_LISTENS:
      return asTypedHere(
        'Nobody was listening: start farthing listen. With --missed it gets this message too.',
      )
    default:
      return `The connection to the receiver failed${coded}: ${connections[code] ?? 'is it running, and is the address right?'}`
  }
}

/** Writes out invisible characters. Some change the direction of text, which would reorder the advice after them. */
export const withoutControls = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    character => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

const LONGEST_LINE = 200

/** The first line of the receiver's answer, after a colon. */
function firstLine(answer: AttemptEnding['response_body']): string {
  const [line] = answer && !answer.base64 ? (/\S.*/.exec(answer.text) ?? []) : []
  if (line === undefined) return ''
  const text = withoutControls(line.trim())
  return `: ${text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}…` : text}`
}
