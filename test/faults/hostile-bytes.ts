/** Damaged requests, such as a broken client, a broken proxy or a request smuggler might send. */
import assert from 'node:assert/strict'
import { webPayment } from '../support/client.ts'
import { fc } from '../support/properties.ts'
import { exchangeBytes } from '../support/raw-http.ts'
import type { Service } from '../support/service.ts'

/** Header lines that two readers may understand differently, or not at all. */
const lines = [
  ...['0', '5', '+5', '5, 5', '99999999999999999999', '', '0x5'].map(it => `Content-Length: ${it}`),
  ...['chunked', 'identity', 'gzip, chunked', 'xchunked'].map(it => `Transfer-Encoding: ${it}`),
  'Transfer-Encoding : chunked',
  ' folded: header',
  '\tfolded',
  'Host: other',
  'no colon',
  'Authorization: Bearer other',
  'Connection: close, close',
  'Expect: 100-continue',
  'Trailer: X',
  ': no name',
  'N\0l: x',
  'A: \x7f',
  'TE: trailers',
  'HTTP2-Settings: x',
]
const separators = ['\n', '\r', '\r\r\n', '\n\n', ' ', '\t', '\0', '']

/** The kind of damage, its place, the number of bytes, and the inserted text. */
type Damage = [kind: number, at: number, length: number, text: string]
const text = fc.constantFrom(...lines, ...separators)
const damage: fc.Arbitrary<Damage> = fc.tuple(fc.nat(6), fc.nat(1_000), fc.nat(30), text)
const damages = fc.array(damage, { minLength: 1, maxLength: 3 })

function damaged(bytes: Buffer, [kind, at, length, text]: Damage): Buffer {
  const place = at % (bytes.length + 1)
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)]
  const inserted = Buffer.from(text, 'latin1')
  const head = bytes.indexOf('\r\n')
  const variants = [
    () => [before],
    () => [before, after.subarray(length)],
    () => [before, inserted, after],
    () => [before, after.subarray(0, length), after],
    () => [before, Buffer.from([at & 255]), after.subarray(1)],
    () => [bytes.subarray(0, head), Buffer.from(`\r\n${text}`, 'latin1'), bytes.subarray(head)],
    () => {
      const lineEnd = text.length < 3 ? text : '\n'
      return [Buffer.from(bytes.toString('latin1').replaceAll('\r\n', lineEnd), 'latin1')]
    },
  ]
  return Buffer.concat(variants[kind]?.() ?? [bytes])
}

/** Throws if the response to a damaged request is a 5xx or the connection stays open. */
export async function attackBytes(
  service: Pick<Service, 'baseUrl'>,
  { seed, requests, key }: { seed: number; requests: number; key: string },
) {
  const body = JSON.stringify(webPayment)
  const whole = [
    `POST /v1/payments HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    `POST /v1/auth HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    `GET /v1/payments?page=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    `POST /secure HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 15\r\n\r\nchargeTokenId=x`,
  ].map(text => Buffer.from(text))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...whole), damages, fc.nat(400), async (request, all, cut) => {
      const bytes = all.reduce(damaged, request)
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)]
      const answered = (await exchangeBytes(service.baseUrl, pieces, true)).toString('latin1')
      for (const [, status] of answered.matchAll(/(?<=^|\n|\})HTTP\/1\.1 (\d{3}) /g))
        assert.ok(
          Number(status) < 500 || status === '505' || status === '501',
          answered.slice(0, 500),
        )
      assert.doesNotMatch(answered, /node_modules|\n\s+at /)
    }),
    { seed, numRuns: requests },
  )
}
