/** Faulty receivers, and the result of each of the two attempts to deliver to them. */
import type { Socket } from 'node:net'
import type { Answer, Behaviour } from './receiver.ts'

export type Ending = { status_code: number | null; result: string }

export type Misbehaviour = {
  behaviour: Behaviour
  /** Results in order. Only one where the first attempt succeeds. */
  attempts: [Ending] | [Ending, Ending]
}

const DRIP_MS = 50

const timeout: Ending = { status_code: null, result: 'timeout' }
const connectionFailed: Ending = { status_code: null, result: 'connection failed' }
const tlsFailed: Ending = { status_code: null, result: 'tls failed' }

/** Both attempts fail with the same result. */
function fails(behaviour: Behaviour, ending: Ending): Misbehaviour {
  return { behaviour, attempts: [ending, ending] }
}

/** The first attempt succeeds. */
function succeeds(behaviour: Behaviour, result = '200 OK'): Misbehaviour {
  return { behaviour, attempts: [status(result)] }
}

function status(result: string): Ending {
  return { status_code: Number.parseInt(result, 10), result }
}

/** Responds to every request with these bytes and keeps the connection open. */
function says(text: string): Behaviour {
  return { onRequest: ({ socket }) => socket.write(text, 'latin1') }
}

/** Responds with these bytes, then closes the connection with FIN. */
function saysAndEnds(text: string): Behaviour {
  return { onRequest: ({ socket }) => socket.end(text, 'latin1') }
}

/** Sends `text`, then `drop` every 50 ms. */
function drips(text: string, drop: string): Behaviour {
  return {
    onRequest: ({ socket }) => {
      socket.write(text)
      repeat(socket, () => socket.write(drop))
    },
  }
}

/** Sends this repeatedly without a pause. */
function floods(text: string): Behaviour {
  const pour = (socket: Socket) => {
    while (socket.writable && socket.write(text));
  }
  return {
    onRequest: ({ socket }) => {
      socket.on('drain', () => pour(socket))
      pour(socket)
    },
  }
}

function repeat(socket: Socket, act: () => void): void {
  const timer = setInterval(act, DRIP_MS)
  socket.on('close', () => clearInterval(timer))
}

function answers(code: number, headers: Record<string, string> = {}): Behaviour {
  return { onRequest: ({ response }) => response.writeHead(code, headers).end() }
}

/** The first request gets one behaviour, all later ones another. */
function first(one: Behaviour, others: Behaviour): Behaviour {
  return {
    onRequest: answer => (answer.nth === 1 ? one : others).onRequest?.(answer),
  }
}

/** More than any socket's buffers hold, as fast as the client reads it. */
function endlessBody({ response }: Answer): void {
  const pour = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  }
  response.on('drain', pour)
  pour()
}

export const misbehaviours: Record<string, Misbehaviour> = {
  'answers 500': fails(answers(500), status('500 Internal Server Error')),
  'answers 429 with Retry-After': fails(
    answers(429, { 'retry-after': '0' }),
    status('429 Too Many Requests'),
  ),
  'answers 503 first, then 202': {
    behaviour: first(answers(503), answers(202)),
    attempts: [status('503 Service Unavailable'), status('202 Accepted')],
  },
  'cuts the first connection, then answers 200': {
    behaviour: first({ onRequest: ({ socket }) => socket.destroy() }, answers(200)),
    attempts: [connectionFailed, status('200 OK')],
  },
  'redirects with 302': fails(answers(302, { location: '/elsewhere' }), status('302 Found')),
  'redirects with 307 to itself': fails(
    answers(307, { location: '/hook' }),
    status('307 Temporary Redirect'),
  ),
  'answers without a reason phrase': succeeds(
    says('HTTP/1.1 202 \r\nContent-Length: 0\r\n\r\n'),
    '202 Accepted',
  ),
  'answers a status without a standard name': fails(
    says('HTTP/1.1 599 \r\nContent-Length: 0\r\n\r\n'),
    status('599'),
  ),
  'answers with an unusual reason phrase': succeeds(
    says('HTTP/1.1 200 Ta very much\r\nContent-Length: 0\r\n\r\n'),
    '200 Ta very much',
  ),
  'answers with a reason phrase of 9,000 characters': fails(
    says(`HTTP/1.1 400 ${'no '.repeat(3000)}\r\nContent-Length: 0\r\n\r\n`),
    status(`400 ${'no '.repeat(33)}n`),
  ),
  'answers 101 and changes the protocol': fails(
    says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    status('101 Switching Protocols'),
  ),
  'sends an unrequested 100 Continue, then 200': succeeds(
    says('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  ),
  'sends 103 twice, then 204': succeeds(
    says(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2)}HTTP/1.1 204 No Content\r\n\r\n`),
    '204 No Content',
  ),
  'sends 102 without end': fails(drips('', 'HTTP/1.1 102 Processing\r\n\r\n'), timeout),
  'sends 103 without a pause': fails(
    floods('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)),
    connectionFailed,
  ),
  'ends the lines of its head with bare line feeds': succeeds(
    says('HTTP/1.1 200 OK\nContent-Length: 0\n\n'),
  ),
  'sends the same Content-Length twice': succeeds(
    says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'),
  ),
  'sends two different lengths': fails(
    says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!'),
    connectionFailed,
  ),
  'answers in HTTP/1.0': succeeds(saysAndEnds('HTTP/1.0 200 OK\r\n\r\nthanks')),
  'answers garbage': fails(says('\u0000\u0001 this is not HTTP\r\n\r\n'), connectionFailed),
  'sends a megabyte of headers': fails(
    says(`HTTP/1.1 200 OK\r\n${`X-Pad: ${'x'.repeat(1000)}\r\n`.repeat(1000)}\r\n`),
    connectionFailed,
  ),
  'sends 20 KB of headers': succeeds(
    says(`HTTP/1.1 200 OK\r\nX-Pad: ${'x'.repeat(20_000)}\r\nContent-Length: 0\r\n\r\n`),
  ),
  'drips the status line': fails(drips('HTTP/1.1 200 O', 'K'), timeout),
  'drips the body': succeeds(drips('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', 'x')),
  'sends a body without end': succeeds({ onRequest: endlessBody }),
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
  'accepts the connection and says nothing': fails({ onConnection: () => {} }, timeout),
  'reads the request and never answers': fails({ onRequest: () => {} }, timeout),
  'refuses the connection': fails({ refuses: true }, connectionFailed),
  'resets the connection as soon as it is open': fails(
    { onConnection: socket => socket.resetAndDestroy() },
    connectionFailed,
  ),
  'cuts the connection in the TLS handshake': fails(
    { onConnection: socket => socket.once('data', () => socket.destroy()) },
    connectionFailed,
  ),
  'cuts the connection after TLS': fails(
    { onSecured: socket => socket.destroy() },
    connectionFailed,
  ),
  'cuts the connection after the request': fails(
    { onRequest: ({ socket }) => socket.destroy() },
    connectionFailed,
  ),
  'closes its side without an answer': fails(saysAndEnds(''), connectionFailed),
  'shows a certificate of another name': fails({ certificate: 'of another name' }, tlsFailed),
  'shows an expired certificate': fails({ certificate: 'expired' }, tlsFailed),
  'shows a self-signed certificate': fails({ certificate: 'self-signed' }, tlsFailed),
  'supports TLS 1.1 at most': fails({ newestTls: 'TLSv1.1' }, tlsFailed),
  'speaks HTTP without TLS on its TLS port': fails(
    { onConnection: socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
    tlsFailed,
  ),
}
