/** The largest payments that the API takes, and a search that reads them. */
import type { Client } from './client.ts'

/** A character of metadata that takes six bytes in JSON. */
const LONG_IN_JSON = '\u0001'

/** Makes `count` payments of the largest size. Their metadata consists of the character. */
export async function createLargePayments(api: Client, count: number, character = LONG_IN_JSON) {
  const fields = {
    description: 'd'.repeat(255),
    email: 'e'.repeat(254),
    return_url: `https://markets.example.org/${'p'.repeat(1_900)}`,
    metadata: Object.fromEntries(
      Array.from({ length: 15 }, (_, i) => [`${i}`.padEnd(30, 'k'), character.repeat(100)]),
    ),
  }
  for (let made = 0; made < count; made += 50)
    await Promise.all(Array.from({ length: 50 }, () => api.createPayment(fields)))
}

export const searchBytes = ({ key }: Client): string =>
  `GET /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
