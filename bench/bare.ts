/**
 * What keeping alone costs: a bare node:http server that writes the same row as Farthing, by the same thread
 * and into the same indexes, and does nothing else. No routes, no key, no rules, no log. Arguments: the
 * database's URL, a file with the answer to give, the port.
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open.ts'
import { createNewId } from '../src/ids.ts'
import { makePayment } from '../src/payments/create.ts'
import { insertPayment } from '../src/payments/store.ts'

const [url = '', file = '', port = '0'] = process.argv.slice(2)
const sample = readFileSync(file, 'utf8')
const { payment_id } = JSON.parse(sample)
const account = 'a'.repeat(26)
const ports = { clock: Date.now, newId: createNewId() }
const { database: address } = readConfig({ DATABASE_URL: url })
const database = await openDatabase(address, {
  onUnknownOutcome(error) {
    throw error
  },
  onConnectionError() {},
})

const server = http.createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', async () => {
    if (request.method !== 'POST') return response.end()
    const given = JSON.parse(Buffer.concat(chunks).toString())
    const { after } = makePayment(ports, account, given, undefined)
    await database.write([insertPayment(after)])
    const body = sample.replaceAll(payment_id, after.payment_id)
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length }
    response.writeHead(201, headers).end(body)
  })
})

server.keepAliveTimeout = 30_000
server.listen(Number(port), '127.0.0.1')
