/** Faulty receivers, and the result of each of the two attempts to deliver to them. */
import type { Socket } from 'node:net'
import type { Answer, Behaviour } from './receiver.ts'

type Ending = { status_code: number | null; result: string }

export type Misbehaviour = {
  behaviour: Behaviour
  /** Results in order. Only one where the first attempt succeeds. */
  attempts: Ending[]
}

const DRIP_MS = 50
/** The rest of a response without a body. */
const EMPTY = '\r\nContent-Length: 0\r\n\r\n'

const ending = (result: string): Ending => ({
  status_code: Number.parseInt(result, 10) || null,
  result,
})

/** Both attempts fail with the same result. */
const fails = (result: string, behaviour: Behaviour): Misbehaviour => ({
  behaviour,
  attempts: [ending(result), ending(result)],
})
const allFail = (result: string, behaviours: Record<string, Behaviour>) =>
  Object.fromEntries(Object.entries(behaviours).map(([name, each]) => [name, fails(result, each)]))

/** The first attempt succeeds. */
const succeeds = (behaviour: Behaviour, result = '200 OK'): Misbehaviour => ({
  behaviour,
  attempts: [ending(result)],
})

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
      const timer = setInterval(() => socket.write(drop), DRIP_MS)
      socket.on('close', () => clearInterval(timer))
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

function answers(code: number, headers: Record<string, string> = {}): Behaviour {
  return { onRequest: ({ response }) => response.writeHead(code, headers).end() }
}

/** The first request gets one behaviour, all later ones another. */
function first(one: Behaviour, others: Behaviour): Behaviour {
  return { onRequest: answer => (answer.nth === 1 ? one : others).onRequest?.(answer) }
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
  'answers 500': fails('500 Internal Server Error', answers(500)),
  'answers 429 with Retry-After': fails(
    '429 Too Many Requests',
    answers(429, { 'retry-after': '0' }),
  ),
  'answers 503 first, then 202': {
    behaviour: first(answers(503), answers(202)),
    attempts: [ending('503 Service Unavailable'), ending('202 Accepted')],
  },
  'cuts the first connection, then answers 200': {
    behaviour: first({ onRequest: ({ socket }) => socket.destroy() }, answers(200)),
    attempts: [ending('connection failed'), ending('200 OK')],
  },
  'redirects with 302': fails('302 Found', answers(302, { location: '/elsewhere' })),
  'redirects with 307 to itself': fails(
    '307 Temporary Redirect',
    answers(307, { location: '/hook' }),
  ),
  'answers without a reason phrase': succeeds(says(`HTTP/1.1 202 ${EMPTY}`), '202 Accepted'),
  'answers a status without a standard name': fails('599', says(`HTTP/1.1 599 ${EMPTY}`)),
  'answers with an unusual reason phrase': succeeds(
    says(`HTTP/1.1 200 Ta very much${EMPTY}`),
    '200 Ta very much',
  ),
  'answers with a reason phrase of 9,000 characters': fails(
    `400 ${'no '.repeat(33)}n`,
    says(`HTTP/1.1 400 ${'no '.repeat(3000)}${EMPTY}`),
  ),
  'answers 101 and changes the protocol': fails(
    '101 Switching Protocols',
    says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
  ),
  'sends an unrequested 100 Continue, then 200': succeeds(
    says(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK${EMPTY}`),
  ),
  'sends 103 twice, then 204': succeeds(
    says(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2)}HTTP/1.1 204 No Content\r\n\r\n`),
    '204 No Content',
  ),
  'ends the lines of its head with bare line feeds': succeeds(
    says('HTTP/1.1 200 OK\nContent-Length: 0\n\n'),
  ),
  'sends the same Content-Length twice': succeeds(
    says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok'),
  ),
  'answers in HTTP/1.0': succeeds(saysAndEnds('HTTP/1.0 200 OK\r\n\r\nthanks')),
  'sends 20 KB of headers': succeeds(
    says(`HTTP/1.1 200 OK\r\nX-Pad: ${'x'.repeat(20_000)}${EMPTY}`),
  ),
  'drips the body': succeeds(drips('HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n', 'x')),
  'sends a body without end': succeeds({ onRequest: endlessBody }),
  'cuts the connection in the body': succeeds(
    saysAndEnds('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx'),
  ),
  'sends a second, unrequested response': succeeds(says(`HTTP/1.1 200 OK${EMPTY}`.repeat(2))),
  'closes the idle connection without a Connection: close header': succeeds({
    onRequest: ({ response, socket }) => response.end(() => socket.end()),
  }),
  'begins TLS after half a second': succeeds({
    onConnection: (_socket, serve) => setTimeout(serve, 500).unref(),
  }),
  ...allFail('timeout', {
    'sends 102 without end': drips('', 'HTTP/1.1 102 Processing\r\n\r\n'),
    'drips the status line': drips('HTTP/1.1 200 O', 'K'),
    'accepts the connection and says nothing': { onConnection: () => {} },
    'reads the request and never answers': { onRequest: () => {} },
  }),
  ...allFail('connection failed', {
    'sends 103 without a pause': floods('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000)),
    'sends two different lengths': says(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!',
    ),
    'answers garbage': says('\u0000\u0001 this is not HTTP\r\n\r\n'),
    'sends a megabyte of headers': says(
      `HTTP/1.1 200 OK\r\n${`X-Pad: ${'x'.repeat(1000)}\r\n`.repeat(1000)}\r\n`,
    ),
    'refuses the connection': { refuses: true },
    'resets the connection as soon as it is open': {
      onConnection: socket => socket.resetAndDestroy(),
    },
    'cuts the connection in the TLS handshake': {
      onConnection: socket => socket.once('data', () => socket.destroy()),
    },
    'cuts the connection after TLS': { onSecured: socket => socket.destroy() },
    'cuts the connection after the request': { onRequest: ({ socket }) => socket.destroy() },
    'closes its side without an answer': saysAndEnds(''),
  }),
  ...allFail('tls failed', {
    'shows a certificate of another name': { certificate: 'of another name' },
    'shows an expired certificate': { certificate: 'expired' },
    'shows a self-signed certificate': { certificate: 'self-signed' },
    'supports TLS 1.1 at most': { newestTls: 'TLSv1.1' },
    'speaks HTTP without TLS on its TLS port': {
      onConnection: socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    },
  }),
}
