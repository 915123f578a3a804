import net from 'node:net'
import { Duplex } from 'node:stream'
import type { ConnectionOptions } from 'node:tls'
import { HANDSHAKE_BYTES } from '../../core/budgets.ts'
import { loadTls } from '../http/node-http.ts'

/** As those of Node's own errors of TLS. */
class TooLong extends Error {
  code = 'ERR_TLS_HANDSHAKE_TOO_LONG'
}

/**
 * A TLS connection that ends if the receiver sends more than HANDSHAKE_BYTES before it is trusted: OpenSSL checks all
 * certificates at one go, and 61 of RSA in 85 KB took 0.5 s of the event loop. Node has no setting for their number.
 */
export function connectTls(options: ConnectionOptions & net.TcpNetConnectOpts) {
  const raw = net.connect({ ...options, path: undefined } as net.TcpNetConnectOpts)
  let left = HANDSHAKE_BYTES
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
    if (left < 0) bounded.destroy(new TooLong())
    else if (!bounded.push(bytes)) raw.pause()
  })
  raw.on('end', () => bounded.push(null))
  raw.on('error', error => bounded.destroy(error))
  raw.on('close', () => bounded.destroy())
  const secured = loadTls().connect({ ...options, socket: bounded })
  raw.once('connect', () => secured.emit('connect'))
  secured.once('secureConnect', () => {
    left = Infinity
  })
  return secured
}
