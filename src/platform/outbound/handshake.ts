import net from 'node:net'
import { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { ConnectionOptions } from 'node:tls'
import { HANDSHAKE_BYTES } from '../../core/budgets.ts'
import { loadTls } from '../http/node-http.ts'

/** As those of Node's own errors of TLS. */
class TooLong extends Error {
  code = 'ERR_TLS_HANDSHAKE_TOO_LONG'
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** In a turn of the event loop of its own, after those before. */
function inOwnTurn(work: () => void): void {
  const turn = lastTurn.then(() => setImmediate())
  void turn.then(work)
  lastTurn = turn
}

/**
 * A TLS connection that ends if the receiver sends more than HANDSHAKE_BYTES before it is trusted, and until then reads in
 * turns: OpenSSL checks all certificates at one go, and 61 of RSA in 85 KB took 0.5 s. Node has no setting for their number.
 */
export function connectTls(options: ConnectionOptions & net.TcpNetConnectOpts) {
  const raw = net.connect({ ...options, path: undefined } as net.TcpNetConnectOpts)
  let left = HANDSHAKE_BYTES
  let waiting = 0
  function inTurn(work: () => void): void {
    waiting += 1
    inOwnTurn(() => {
      waiting -= 1
      work()
    })
  }
  const inOrder = (work: () => void) => (waiting > 0 ? inTurn(work) : work())
  const bounded = new Duplex({
    read: () => void raw.resume(),
    write: (bytes, _encoding, done) => void raw.write(bytes, done),
    final: done => void raw.end(done),
    destroy(error, done) {
      raw.destroy()
      done(error)
    },
  })
  raw.on('data', bytes => {
    left -= bytes.length
    const push = () => bounded.push(bytes) || raw.pause()
    if (left < 0) bounded.destroy(new TooLong())
    else if (left < Infinity) inTurn(push)
    else inOrder(push)
  })
  raw.on('end', () => inOrder(() => bounded.push(null)))
  raw.on('error', error => inOrder(() => bounded.destroy(error)))
  raw.on('close', () => inOrder(() => bounded.destroy()))
  const secured = loadTls().connect({ ...options, socket: bounded })
  raw.once('connect', () => secured.emit('connect'))
  secured.once('secureConnect', () => {
    left = Infinity
  })
  return secured
}
