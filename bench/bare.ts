/**
 * The floor plus storage: it writes the same row as Farthing, with the same thread and indexes, but has no
 * routes, keys, validation or log. Arguments: the database's URL and the length of a response to a POST in
 * bytes.
 */
import http from 'node:http'
import { readConfig } from '../src/config.ts'
import { openDatabase } from '../src/database/open.ts'
import { createNewId, secrets } from '../src/ids.ts'
import { makePayment } from '../src/payments/commands.ts'
import { insertPayment } from '../src/payments/store.ts'
import { answer, listen, padding } from './answer.ts'

const [url = '', bytes = '0'] = process.argv.slice(2)
const PADDING = padding(Number(bytes))
const account = 'a'.repeat(26)
const newId = createNewId()
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
    const given = JSON.parse(Buffer.concat(chunks).toString())
    const { after } = makePayment({ newId, secrets }, account, Date.now(), given, undefined)
    await database.write([insertPayment(after)])
    answer(response, 201, after.payment_id, PADDING)
  })
})

listen(server)
