/** Why an attempt failed, in one sentence that says what to do. */

import { isSuccess } from '../../core/http-status.ts'
import { asTypedHere } from '../../core/invocation.ts'
import { NOBODY_LISTENS } from '../../pay/webhooks/listener.ts'
import type { KeptBody } from '../record/exchange.ts'

/** How an attempt ended: the status, or without one the reason and, if it is known, Node's code in brackets. */
export type AttemptEnding = {
  status: number | null
  result: string
  /** The beginning of the receiver's answer. */
  answer?: KeptBody | undefined
}

/** undefined for an attempt that succeeded. */
export function causeOf(ending: AttemptEnding): string | undefined {
  const { status, result } = ending
  if (status === null) return withoutStatus(result)
  if (isSuccess(status)) return undefined
  const answered = `The receiver answered ${withoutControls(result)}`
  if (status >= 300 && status <= 399)
    return `${answered}, a redirect. 3xx counts as failed: register the address it leads to.`
  const rest = `${answered}${firstLine(ending.answer)}`
  switch (status) {
    case 401:
    case 403:
      return `${rest}. Most often the signature does not match there: compare the signatures.`
    case 404:
    case 410:
      return `${rest}. Is the path of the callback URL right?`
    case 405:
      return `${rest}. The receiver does not take POST at this path.`
    case 413:
      return `${rest}. The receiver, or a proxy before it, takes no body of this size.`
    case 415:
      return `${rest}. The receiver does not take application/json.`
    case 429:
      return `${rest}. The receiver limits how many requests it takes.`
    default:
      return status >= 500
        ? `${rest}. The receiver has a fault: its log says more.`
        : `${rest}. Only 2xx counts as delivered.`
  }
}

/** The code of Node in brackets after a reason. */
const CODE = /^(.*) \(([A-Z0-9_]+)\)$/

/** Codes of connections that nothing accepted, and of those that ended early. */
const refused = 'Nothing accepted the connection'
const broken = 'The receiver closed the connection before it answered'
const connections: Record<string, string> = {
  ECONNREFUSED: `${refused} (ECONNREFUSED): is the receiver running, and is the port right?`,
  EHOSTUNREACH: `${refused} (EHOSTUNREACH): the machine of the receiver cannot be reached from Farthing.`,
  ENETUNREACH: `${refused} (ENETUNREACH): the network of the receiver cannot be reached from Farthing.`,
  ECONNRESET: `${broken} (ECONNRESET): its log says more.`,
  EPIPE: `${broken} (EPIPE): its log says more.`,
}

/** What is wrong with a certificate, for the codes that are seen most. */
const certificates: Record<string, string> = {
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is signed by itself: name its authority in NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN:
    'its authority is not known here: name the authority in NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the receiver does not send the certificates between it and a known authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'its authority is not known here: name the authority in NODE_EXTRA_CA_CERTS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host name',
}

function withoutStatus(result: string): string {
  const [, reason = result, code = ''] = CODE.exec(result) ?? []
  switch (reason) {
    case 'timeout':
      return 'The receiver did not answer within 2 seconds: answer first and do the work afterwards. If the receiver also made the request that sends the message, it must serve two at once.'
    case 'name not resolved':
      return 'The host name of the callback URL has no address: is it spelt right, and known where Farthing runs?'
    case 'address refused':
      return 'The callback URL leads to an address that Farthing does not connect to, such as a private one: add its host to FARTHING_CALLBACK_HOSTS.'
    case 'tls failed':
      return certificateCause(code)
    case NOBODY_LISTENS:
      return asTypedHere(
        'Nobody was listening: start farthing listen. With --missed it gets this message too.',
      )
    default:
      return (
        connections[code] ??
        `The connection to the receiver failed${code && ` (${code})`}: is it running, and is the address right?`
      )
  }
}

function certificateCause(code: string): string {
  const why = certificates[code]
  if (why) return `The certificate of the receiver was not accepted (${code}): ${why}.`
  return `No secure connection to the receiver could be made${code && ` (${code})`}: does it speak https at this port, with a certificate that is valid?`
}

/** Invisible characters, written out: those that change the direction of text would reorder the advice behind them. */
export const withoutControls = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    character => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  )

const LONGEST_LINE = 200

/** The first line of the receiver's answer, after a colon. */
function firstLine(answer: KeptBody | undefined): string {
  if (!answer || answer.base64) return ''
  const line = answer.text
    .split('\n')
    .map(each => each.trim())
    .find(each => each !== '')
  if (line === undefined) return ''
  const printed = withoutControls(line)
  return `: ${printed.length > LONGEST_LINE ? `${printed.slice(0, LONGEST_LINE)}…` : printed}`
}
