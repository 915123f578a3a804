/**
 * The floor plus storage: it writes the same row as Farthing, with the same thread and indexes, but has no
 * routes, keys, validation or log. Arguments: the database's URL and the length of a response to a POST in
 * bytes.
 */
import http from 'node:http'
import { readConfig } from '../src/app/config.ts'
import { newAccount } from '../src/core/account.ts'
import { createNewId, secrets } from '../src/core/ids.ts'
import { makePayment } from '../src/pay/payments/commands.ts'
import { insertPayment } from '../src/pay/payments/store.ts'
import { openDatabase } from '../src/platform/database/open.ts'
import { answer, listen, padding } from './answer.ts'

const [url = '', bytes = '0'] = process.argv.slice(2)
const PADDING = padding(Number(bytes))
const account = newAccount('a'.repeat(26))
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
    const { after } = makePayment({ newId, secrets }, account, Date.now(), { given })
    await database.write([insertPayment(after)])
    answer(response, 201, after.payment_id, PADDING)
  })
})

listen(server)
