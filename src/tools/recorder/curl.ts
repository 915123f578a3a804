/** Prints a recorded exchange as a command for a POSIX shell that sends the same bytes again. */
import type { Exchange } from '../../core/exchange.ts'
import { MASK } from './mask.ts'

type CurlOrReason = { command: string } | { reason: string }

/** The variable from which the command reads the key, so that it never contains one. */
const KEY = '"Authorization: Bearer $FARTHING_API_KEY"'

/** curl sends these by itself, unless it is told not to. */
const SENT_BY_CURL = ['accept', 'user-agent']
/** curl makes these itself. */
const MADE_BY_CURL = ['host', 'content-length', 'connection', 'transfer-encoding']

/**
 * `site` is the address of the service without a slash at its end; an attempt has an address of its own. The lines are
 * the comments, then the command.
 */
export function asCurl(exchange: Exchange, site: string): CurlOrReason {
  const reason = reasonAgainst(exchange)
  if (reason) return { reason }
  const { kind, method, path, query, request_headers, request_body } = exchange
  const url = (kind === 'out' ? '' : site) + path + (query && `?${query}`)
  const body = request_body?.text
  const piped = body !== undefined && CONTROL.test(body)
  const lines = [
    `${piped ? `printf ${quoted(formatOf(body))} | ` : ''}curl -i -g --path-as-is`,
    ...methodOptions(method, body !== undefined),
    ...(kind === 'api' ? [`-H ${KEY}`] : []),
    ...headerOptions(request_headers, body !== undefined),
    ...(body === undefined ? [] : [piped ? '--data-binary @-' : `--data-raw ${quoted(body)}`]),
    quoted(url),
  ]
  return { command: [...commentsOn(exchange), lines.join(' \\\n  ')].join('\n') }
}

/** The characters of an address that curl sends as they are. It cuts off what follows a #. */
const PLAIN_ADDRESS = /^[!"$-~]*$/
/** A byte that was not UTF-8. */
const REPLACED = '\ufffd'

function reasonAgainst(exchange: Exchange): string | undefined {
  const { kind, operation, path, query, request_headers, request_body } = exchange
  if (kind === 'page') return 'The form of a page is not kept, and its token is masked.'
  if (operation === 'authorisePayment') return 'Its body is a card, which is not kept.'
  if (kind === 'api' && !path.startsWith('/'))
    return 'The client sent a whole address instead of a path.'
  if ((path + query).includes(MASK)) return 'A part of the address is masked.'
  if (!PLAIN_ADDRESS.test(path + query))
    return 'The address has characters that curl would encode or leave out.'
  if (Object.values(request_headers).some(value => value.includes(REPLACED)))
    return 'A header has bytes that are not UTF-8.'
  if (request_body?.cut !== undefined) return 'Only the beginning of the body is kept.'
  if (request_body?.base64) return 'The body is not UTF-8.'
  if (request_body?.text.includes('\0'))
    return 'The body has a NUL, which no argument of a command can have.'
  return undefined
}

function commentsOn({ kind, request_headers, request_body }: Exchange): string[] {
  const key = request_headers['idempotency-key']
  const parts = [...Object.values(request_headers), request_body?.text ?? '']
  return [
    ...(key === undefined
      ? []
      : [
          '# The Idempotency-Key is used up: the answer is the same payment. Change it for another.',
        ]),
    ...(parts.some(part => part.includes(MASK))
      ? [`# ${MASK} is what was masked: put it back, or the bytes are not the same.`]
      : []),
    ...(kind === 'api' ? ['# export FARTHING_API_KEY=...'] : []),
  ]
}

function methodOptions(method: string, hasBody: boolean): string[] {
  if (method === 'HEAD' && !hasBody) return ['--head']
  return method === (hasBody ? 'POST' : 'GET') ? [] : [`-X ${quoted(method)}`]
}

/** `X;` is how curl sends an empty header, and `X:` how it sends none. */
function headerOptions(headers: Record<string, string>, hasBody: boolean): string[] {
  const kept = Object.entries(headers).filter(
    ([name]) => !MADE_BY_CURL.includes(name.toLowerCase()),
  )
  const names = kept.map(([name]) => name.toLowerCase())
  const unwanted = [...SENT_BY_CURL, ...(hasBody ? ['content-type'] : [])].filter(
    name => !names.includes(name),
  )
  return [
    ...kept.map(([name, value]) => (value === '' ? `${name};` : `${name}: ${value}`)),
    ...unwanted.map(name => `${name}:`),
  ].map(header => `-H ${quoted(header)}`)
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A terminal, a clipboard or HTML may change these: CR becomes LF, and ESC begins a command for the terminal. */
const CONTROLS = '\\x01-\\x08\\x0b-\\x1f\\x7f'
const CONTROL = new RegExp(`[${CONTROLS}]`)
/** A format that began with a hyphen would be an option. */
const FOR_FORMAT = new RegExp(`^-|[%\\\\${CONTROLS}]`, 'g')

/** The text as a format of printf(1). */
const formatOf = (text: string): string =>
  text.replace(FOR_FORMAT, character =>
    character === '%' ? '%%' : `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
