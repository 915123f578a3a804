/** Faulty receivers, and the result of each of the two attempts to deliver to them. */
import type { Writable } from 'node:stream'
import type { Behaviour } from './receiver.ts'

export type Misbehaviour = {
  behaviour: Behaviour
  /** Results in order, with the status if there is one. Only one result where the first attempt succeeds. */
  attempts: string[]
}

const TIMEOUT = 'timeout'
const FAILED = 'connection failed'
const TLS_FAILED = 'tls failed'

const fails = (behaviour: Behaviour, result: string): Misbehaviour => ({
  behaviour,
  attempts: [result, result],
})

const succeeds = (behaviour: Behaviour, result = '200 OK'): Misbehaviour => ({
  behaviour,
  attempts: [result],
})

/** Responds to every request with these bytes and keeps the connection open. */
const says = (text: string): Behaviour => ({
  onRequest: ({ socket }) => socket.write(text, 'latin1'),
})

/** Responds with this status line and headers, and no body. */
const heads = (line: string, headers = ''): Behaviour =>
  says(`HTTP/1.1 ${line}\r\n${headers}Content-Length: 0\r\n\r\n`)

/** Responds with these bytes, then closes the connection with FIN. */
const saysAndEnds = (text: string): Behaviour => ({
  onRequest: ({ socket }) => socket.end(text, 'latin1'),
})

const drips = (text: string, drop: string): Behaviour => ({
  onRequest: ({ socket }) => {
    socket.write(text)
    const timer = setInterval(() => socket.write(drop), 50)
    socket.on('close', () => clearInterval(timer))
  },
})

const answers = (code: number, headers: Record<string, string> = {}): Behaviour => ({
  onRequest: ({ response }) => response.writeHead(code, headers).end(),
})

const first = (one: Behaviour, others: Behaviour): Behaviour => ({
  onRequest: answer => (answer.nth === 1 ? one : others).onRequest?.(answer),
})

/** Sends this without an end, as fast as the client reads it. */
function pour(stream: Writable, text: string): void {
  const write = () => {
    while (!stream.destroyed && stream.write(text));
  }
  stream.on('drain', write)
  write()
}

export const misbehaviours: Record<string, Misbehaviour> = {
  'answers 500': fails(answers(500), '500 Internal Server Error'),
  'answers 429 with Retry-After': fails(
    answers(429, { 'retry-after': '0' }),
    '429 Too Many Requests',
  ),
  'answers 503 first, then 202': {
    behaviour: first(answers(503), answers(202)),
    attempts: ['503 Service Unavailable', '202 Accepted'],
  },
  'cuts the first connection, then answers 200': {
    behaviour: first({ onRequest: ({ socket }) => socket.destroy() }, answers(200)),
    attempts: [FAILED, '200 OK'],
  },
  'redirects with 302': fails(answers(302, { location: '/elsewhere' }), '302 Found'),
  'redirects with 307 to itself': fails(
    answers(307, { location: '/hook' }),
    '307 Temporary Redirect',
  ),
  'answers without a reason phrase': succeeds(heads('202 '), '202 Accepted'),
  'answers a status without a standard name': fails(heads('599 '), '599'),
  'answers with an unusual reason phrase': succeeds(heads('200 Ta very much'), '200 Ta very much'),
  'answers with a reason phrase of 9,000 characters': fails(
    heads(`400 ${'no '.repeat(3000)}`),
    `400 ${'no '.repeat(33)}n`,
  ),
  'answers 101 and changes the protocol': fails(
    says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    '101 Switching Protocols',
  ),
  'sends an unrequested 100 Continue, then 200': succeeds(
    says('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  ),
  'sends 103 twice, then 204': succeeds(
    says(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2)}HTTP/1.1 204 No Content\r\n\r\n`),
    '204 No Content',
  ),
  'sends 102 without end': fails(drips('', 'HTTP/1.1 102 Processing\r\n\r\n'), TIMEOUT),
  'sends 103 without a pause': fails(
    { onRequest: ({ socket }) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)) },
    FAILED,
  ),
  'ends the lines of its head with bare line feeds': succeeds(
    says('HTTP/1.1 200 OK\nContent-Length: 0\n\n'),
  ),
  'sends the same Content-Length twice': succeeds(
    says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'),
  ),
  'sends two different lengths': fails(
    says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!'),
    FAILED,
  ),
  'answers in HTTP/1.0': succeeds(saysAndEnds('HTTP/1.0 200 OK\r\n\r\nthanks')),
  'answers garbage': fails(says('\u0000\u0001 this is not HTTP\r\n\r\n'), FAILED),
  'sends a megabyte of headers': fails(
    says(`HTTP/1.1 200 OK\r\n${`X-Pad: ${'x'.repeat(1000)}\r\n`.repeat(1000)}\r\n`),
    FAILED,
  ),
  'sends 20 KB of headers': succeeds(heads('200 OK', `X-Pad: ${'x'.repeat(20_000)}\r\n`)),
  'drips the status line': fails(drips('HTTP/1.1 200 O', 'K'), TIMEOUT),
  'drips the body': succeeds(drips('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', 'x')),
  'sends a body without end': succeeds({
    onRequest: ({ response }) => pour(response, 'x'.repeat(65_536)),
  }),
  'cuts the connection in the body': succeeds(
    saysAndEnds('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx'),
  ),
  'sends a second, unrequested response': succeeds(
    says('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'.repeat(2)),
  ),
  'closes the idle connection without a Connection: close header': succeeds({
    onRequest: ({ response, socket }) => response.end(() => socket.end()),
  }),
  'begins TLS after half a second': succeeds({
    onConnection: (_socket, serve) => setTimeout(serve, 500).unref(),
  }),
  'accepts the connection and says nothing': fails({ onConnection: () => {} }, TIMEOUT),
  'reads the request and never answers': fails({ onRequest: () => {} }, TIMEOUT),
  'refuses the connection': fails({ refuses: true }, FAILED),
  'resets the connection as soon as it is open': fails(
    { onConnection: socket => socket.resetAndDestroy() },
    FAILED,
  ),
  'cuts the connection in the TLS handshake': fails(
    { onConnection: socket => socket.once('data', () => socket.destroy()) },
    FAILED,
  ),
  'cuts the connection after TLS': fails({ onSecured: socket => socket.destroy() }, FAILED),
  'cuts the connection after the request': fails(
    { onRequest: ({ socket }) => socket.destroy() },
    FAILED,
  ),
  'closes its side without an answer': fails(saysAndEnds(''), FAILED),
  'shows a certificate of another name': fails({ certificate: 'of another name' }, TLS_FAILED),
  'shows an expired certificate': fails({ certificate: 'expired' }, TLS_FAILED),
  'shows a self-signed certificate': fails({ certificate: 'self-signed' }, TLS_FAILED),
  'supports TLS 1.1 at most': fails({ newestTls: 'TLSv1.1' }, TLS_FAILED),
  'speaks HTTP without TLS on its TLS port': fails(
    { onConnection: socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
    TLS_FAILED,
  ),
}
