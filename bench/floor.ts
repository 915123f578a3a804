/**
 * The floor: a bare node:http server that parses the same JSON and responds with the same number of bytes.
 * Arguments: the length of a response to a POST and to a GET in bytes.
 */
import http from 'node:http'
import { answer, listen, padding } from './answer.ts'

const [postBytes = 0, getBytes = 0] = process.argv.slice(2).map(Number)
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

listen(server)
