/** Prints a recorded exchange as a command for a POSIX shell that sends the same bytes again. */
import type { Exchange } from './exchange.ts'
import { MASK } from './mask.ts'

/** curl makes these headers itself. */
const MADE_BY_CURL = ['host', 'content-length', 'connection', 'transfer-encoding']
/** The characters of an address that curl sends unchanged. It cuts off a # and the text after it. */
const PLAIN_ADDRESS = /^[!"$-~]*$/
/** Characters that a terminal, a clipboard or HTML may change: CR becomes LF, and ESC begins a terminal's command. */
const CONTROLS = '\\x01-\\x08\\x0b-\\x1f\\x7f'
const CONTROL = new RegExp(`[${CONTROLS}]`)
/** The characters to escape in a format of printf(1). A format that began with a hyphen would be an option. */
const FOR_FORMAT = new RegExp(`^-|[%\\\\${CONTROLS}]`, 'g')

/** `site` is the address of the service without a slash at its end; an attempt has an address of its own. */
export function asCurl(exchange: Exchange, site: string): { command: string } | { reason: string } {
  const reason = reasonAgainst(exchange)
  if (reason) return { reason }
  const { kind, method, path, query, request_headers, request_body } = exchange
  const body = request_body?.text
  const isPiped = body !== undefined && CONTROL.test(body)
  const usual = body === undefined ? 'GET' : 'POST'
  const names = Object.keys(request_headers).map(name => name.toLowerCase())
  // curl sends these headers by itself, unless it is told not to.
  const unwanted = ['accept', 'user-agent', ...(body === undefined ? [] : ['content-type'])]
  const headers = [
    // `X;` is how curl sends an empty header, and `X:` how it sends none.
    ...Object.entries(request_headers)
      .filter(([name]) => !MADE_BY_CURL.includes(name.toLowerCase()))
      .map(([name, value]) => (value === '' ? `${name};` : `${name}: ${value}`)),
    ...unwanted.filter(name => !names.includes(name)).map(name => `${name}:`),
  ]
  const lines = [
    `${isPiped ? `printf ${quoted(formatOf(body))} | ` : ''}curl -i -g --path-as-is`,
    method === 'HEAD' && body === undefined ? '--head' : method !== usual && `-X ${quoted(method)}`,
    // The command reads the key from this variable, so that it never contains a key.
    kind === 'api' && '-H "Authorization: Bearer $FARTHING_API_KEY"',
    ...headers.map(header => `-H ${quoted(header)}`),
    body !== undefined && (isPiped ? '--data-binary @-' : `--data-raw ${quoted(body)}`),
    quoted((kind === 'out' ? '' : site) + path + (query && `?${query}`)),
  ]
  const comments = [
    names.includes('idempotency-key') &&
      '# The Idempotency-Key is used up: the answer is the same payment. Change it for another.',
    [...Object.values(request_headers), body ?? ''].some(part => part.includes(MASK)) &&
      `# ${MASK} is what was masked or cut: put it back, or the bytes are not the same.`,
    kind === 'api' && '# export FARTHING_API_KEY=...',
  ]
  const command = lines.filter(line => line !== false).join(' \\\n  ')
  return { command: [...comments.filter(line => line !== false), command].join('\n') }
}

function reasonAgainst(exchange: Exchange): string | undefined {
  const { kind, secret_body, path, query, request_headers, request_body } = exchange
  if (kind === 'page') return 'The form of a page is not kept, and its token is masked.'
  if (secret_body) return 'Its body is a card, which is not kept.'
  if (kind === 'api' && !path.startsWith('/'))
    return 'The client sent a whole address instead of a path.'
  if ((path + query).includes(MASK)) return 'A part of the address is masked.'
  if (!PLAIN_ADDRESS.test(path + query))
    return 'The address has characters that curl would encode or leave out.'
  // U+FFFD stands for bytes that were not UTF-8.
  if (Object.values(request_headers).some(value => value.includes('\ufffd')))
    return 'A header has bytes that are not UTF-8.'
  if (request_body?.cut !== undefined) return 'Only the beginning of the body is kept.'
  if (request_body?.base64) return 'The body is not UTF-8.'
  if (request_body?.text.includes('\0'))
    return 'The body has a NUL, which no argument of a command can have.'
  return undefined
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const formatOf = (text: string): string =>
  text.replace(FOR_FORMAT, character =>
    character === '%' ? '%%' : `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
