/** The response of a reference server, with as many bytes as the real one. */
import type http from 'node:http'

/** The padding after the identifier that brings a keep-alive response to this length, headers included. */
export function padding(wanted: number): string {
  const head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n'
  const rest = `Date: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=30\r\n\r\n`
  const start = `{"payment_id":"${'0'.repeat(26)}"`
  const missing = wanted - head.length - rest.length - start.length
  return `,"padding":"${'x'.repeat(Math.max(0, missing - 14))}"}`
}

export function answer(
  response: http.ServerResponse,
  status: number,
  id: string,
  rest: string,
): void {
  const body = `{"payment_id":"${id}"${rest}`
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length })
  response.end(body)
}

/** Listens on a free port of loopback and prints it. */
export function listen(server: http.Server): void {
  server.keepAliveTimeout = 30_000
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object' && address) process.stdout.write(`listening ${address.port}\n`)
  })
}
