/**
 * The floor: what a bare node:http server on this runtime can do that parses the same JSON and answers
 * the same number of bytes. Arguments: the bytes of a whole answer to a POST and to a GET.
 */
import http from 'node:http'

const [postBytes = 0, getBytes = 0] = process.argv.slice(2).map(Number)

/** What follows the identifier in a body, so that head and body together have the wanted length. */
const PADDING = { POST: padding(postBytes), GET: padding(getBytes) }
let made = 0

const server = http.createServer((request, response) => {
  if (request.method !== 'POST') {
    answer(response, 200, request.url?.slice(request.url.lastIndexOf('/') + 1) ?? '', PADDING.GET)
    return
  }
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const given = JSON.parse(Buffer.concat(chunks).toString())
    if (!given.amount) throw new Error('not the JSON that was sent')
    answer(response, 201, String(++made).padStart(26, '0'), PADDING.POST)
  })
})

function answer(response: http.ServerResponse, status: number, id: string, rest: string): void {
  const body = `{"payment_id":"${id}"${rest}`
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': body.length })
  response.end(body)
}

function padding(wanted: number): string {
  const head = 'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n'
  const rest = `Date: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=30\r\n\r\n`
  const start = `{"payment_id":"${'0'.repeat(26)}"`
  const missing = wanted - head.length - rest.length - start.length
  return `,"padding":"${'x'.repeat(Math.max(0, missing - 14))}"}`
}

server.keepAliveTimeout = 30_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) process.stdout.write(`listening ${address.port}\n`)
})
