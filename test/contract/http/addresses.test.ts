import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { type Body, webPayment } from '../../support/client.ts'
import { exchangeBytes, parseAnswer } from '../../support/raw-http.ts'
import { onSharedDatabases, type Service, startService } from '../../support/service.ts'
import { openMessage, subscribe } from '../../support/subscriber.ts'

const payment = JSON.stringify(webPayment)

/** One service for each set of environment variables, by their JSON. */
const services = new Map<string, Service>()

async function serviceWith(env: Record<string, string>): Promise<Service> {
  const name = JSON.stringify(env)
  const service = services.get(name) ?? (await startService('sqlite', { env }))
  services.set(name, service)
  return service
}

/** Sends a request with exactly these lines before its length. */
async function send(base: string, head: string[], body: string) {
  const lines = [...head, `Content-Length: ${body.length}`, 'Connection: close', '', body]
  const answer = parseAnswer(await exchangeBytes(base, [lines.join('\r\n')]))
  assert.ok(answer.status < 400, answer.text)
  return answer
}

async function create(env: Record<string, string>, headers: string[], version = '1.1') {
  const { newAccount, baseUrl: own } = await serviceWith(env)
  const bearer = `Authorization: Bearer ${(await newAccount()).key}`
  const head = [`POST /v1/payments HTTP/${version}`, ...headers, bearer]
  return { ...(await send(own, head, payment)), own }
}

function addressesIn({ _links }: Body): [api: string, pages: string] {
  for (const name of ['self', 'events', 'refunds', 'cancel'])
    assert.ok(_links[name].href.startsWith(_links.self.href), name)
  const [pages] = _links.next_url.href.split('/secure/')
  assert.equal(_links.next_url_post.href, `${pages}/secure`)
  return [_links.self.href.split('/v1/')[0], pages]
}

const HOSTS = ['localhost:3000', 'farthing', '[::1]:3000', '10.0.0.1', 'A.example:80']
const BASES = ['https://pay.example.org', 'http://localhost:8080/farthing/api']
const FARTHING_PAGES_URL = 'https://pages.example.org/demo'
const trust = { FARTHING_TRUST_PROXY: 'true' }
const configured = { FARTHING_BASE_URL: 'http://configured' }
const forwarded = [
  'Host: inside:3000',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: pay.example.org',
]

type Row = [env: Record<string, string>, headers: string[], api: string, pages?: string]
const addresses: Record<string, Row[]> = {
  'links use http and the Host header of the request': HOSTS.map(host => [
    {},
    [`Host: ${host}`],
    `http://${host}`,
  ]),
  'links use FARTHING_BASE_URL and its path': BASES.map(base => [
    { FARTHING_BASE_URL: base },
    ['Host: other'],
    base,
  ]),
  'links to pages use FARTHING_PAGES_URL': [
    [{ FARTHING_PAGES_URL }, ['Host: api:3000'], 'http://api:3000', FARTHING_PAGES_URL],
    [{ ...configured, FARTHING_PAGES_URL }, ['Host: x'], 'http://configured', FARTHING_PAGES_URL],
  ],
  'links use X-Forwarded-Proto and X-Forwarded-Host when the proxy is trusted': [
    [trust, forwarded, 'https://pay.example.org'],
    [trust, ['Host: a', 'X-Forwarded-Proto: https'], 'https://a'],
    [trust, ['Host: a', 'X-Forwarded-Host: b'], 'http://b'],
    [trust, ['Host: a', 'X-Forwarded-Proto: HTTPS, http', 'X-Forwarded-Host: b, c'], 'https://b'],
    [trust, ['Host: a', 'X-Forwarded-Proto: javascript'], 'http://a'],
    [trust, ['Host: a'], 'http://a'],
  ],
  'links ignore X-Forwarded headers when the proxy is not trusted or FARTHING_BASE_URL is set': [
    [{}, forwarded, 'http://inside:3000'],
    [{ FARTHING_TRUST_PROXY: 'false' }, forwarded, 'http://inside:3000'],
    [{ ...trust, ...configured }, forwarded, 'http://configured'],
  ],
}

describe('HTTP: addresses in links', () => {
  after(async () => {
    for (const service of services.values()) await service.stop()
  })

  test('links use the address of the service when the Host header is not a host name', async () => {
    const long = `${'a.'.repeat(130)}example`
    for (const host of ['a/b', 'a"b', 'a b', 'me@a', '<script>', 'a:b:c', '', long]) {
      const { body, own } = await create({}, [`Host: ${host}`])
      assert.deepEqual(addressesIn(body), [own, own], host)
    }
    const { body, own } = await create({}, [], '1.0')
    assert.deepEqual(addressesIn(body), [own, own])
  })

  test('links name the service by an address that works, whatever HOST it listens on', async () => {
    for (const [HOST, name] of [
      ['127.0.0.1', '127.0.0.1'],
      ['0.0.0.0', 'localhost'],
      ['localhost', 'localhost'],
    ] as const) {
      const { body, own } = await create({ HOST }, ['Host: a/b'])
      const address = `http://${name}:${new URL(own).port}`
      assert.deepEqual(addressesIn(body), [address, address])
    }
  })

  for (const [sentence, rows] of Object.entries(addresses))
    test(sentence, async () => {
      for (const [env, head, api, pages = api] of rows) {
        const { body, headers } = await create(env, head)
        assert.deepEqual(addressesIn(body), [api, pages])
        assert.equal(headers.get('location'), body._links.self.href)
      }
    })
})

onSharedDatabases('HTTP: links in webhook messages', { receives: true }, service => {
  test('every message has the links that the creator of the payment sees, whoever causes it', async t => {
    const client = await service().newAccount()
    const subscriber = await subscribe(t, client)
    const base = service().baseUrl
    const bearer = `Authorization: Bearer ${client.key}`
    const sendTo = async (host: string, line: string, body = '', header = bearer): Promise<Body> =>
      (await send(base, [`${line} HTTP/1.1`, `Host: ${host}`, header], body)).body
    const given = JSON.stringify({ ...webPayment, delayed_capture: true })
    const payment = await sendTo('created.example:3000', 'POST /v1/payments', given)
    const form = 'Content-Type: application/x-www-form-urlencoded'
    const page = new URL(payment._links.next_url.href).pathname
    await sendTo('user.example', `POST ${page}`, 'scenario=success', form)
    await sendTo('user.example', `POST ${page}/confirm`, '', form)
    const path = `/v1/payments/${payment.payment_id}`
    await sendTo('other.example', `POST ${path}/capture`)
    await sendTo('third.example', `POST ${path}/refunds`, '{"amount":1}')
    const seen = await sendTo('created.example:3000', `GET ${path}`)
    const messages = subscriber.requests.map(one => openMessage(one, subscriber.webhook))
    assert.equal(messages.length, 3)
    const { baseUrl = 'http://created.example:3000' } = service().config
    for (const { resource } of messages)
      assert.equal(resource._links.self.href, `${baseUrl}${path}`)
    assert.deepEqual(messages.at(-1)?.resource, seen)
  })
})
