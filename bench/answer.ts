/** The answer of a server that only stands for others: as many bytes as a real one has. */
import type http from 'node:http'

/** Of a keep-alive answer, head and body together: what comes after the identifier to make it so long. */
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

/** On a free port of loopback, which it prints. */
export function listen(server: http.Server): void {
  server.keepAliveTimeout = 30_000
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address === 'object' && address) process.stdout.write(`listening ${address.port}\n`)
  })
}
