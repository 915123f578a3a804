import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { type AuthorisationMode, type Status, statuses } from '../../src/pay/payments/payment.ts'
import { presentFound, presentPayment } from '../../src/pay/payments/response.ts'
import { linkTo } from '../../src/platform/http/addresses.ts'
import { samplePayment } from '../support/sample-payment.ts'

const addresses = { api: 'https://api.example.org/pay', pages: 'https://pay.example.org' }
const modes: AuthorisationMode[] = ['web', 'moto_api', 'agreement']

/** The links of a payment in this status and mode, beside self, events and refunds. */
function expected(status: Status, mode: AuthorisationMode): string[] {
  const waiting = status === 'created' || status === 'started'
  const pages = { web: ['next_url', 'next_url_post'], moto_api: ['auth_url_post'], agreement: [] }
  return [
    ...(waiting ? pages[mode] : []),
    ...(waiting || status === 'capturable' ? ['cancel'] : []),
    ...(status === 'capturable' ? ['capture'] : []),
  ]
}

describe('Links of a payment', () => {
  const visible = statuses.filter(status => status !== 'submitted')

  for (const mode of modes)
    test(`a payment in ${mode} mode has the links of its status`, () => {
      for (const status of visible) {
        const payment = samplePayment(status, { authorisation_mode: mode })
        const links = Object.keys(presentPayment(payment, addresses)._links).sort()
        const wanted = ['self', 'events', 'refunds', ...expected(status, mode)].sort()
        assert.deepEqual(links, wanted, `${status}, ${mode}`)
      }
    })

  test('a payment in search results has the same links without those that contain a token', () => {
    for (const mode of modes)
      for (const status of visible) {
        const payment = samplePayment(status, { authorisation_mode: mode })
        const links = { ...presentPayment(payment, addresses)._links }
        delete links.next_url
        delete links.next_url_post
        delete links.auth_url_post
        assert.deepEqual(presentFound(payment, addresses)._links, links, `${status}, ${mode}`)
      }
  })
})

test('the URL of a server has brackets around IPv6, and localhost for all addresses', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // a TCP server has no other kind
  const hosts = [
    ['::1', '[::1]'],
    ['::', 'localhost'],
    ['0.0.0.0', 'localhost'],
    ['farthing', 'farthing'],
  ]
  for (const [host = '', name] of hosts)
    assert.equal(linkTo(host, server), `http://${name}:${port}`)
  server.close()
})
