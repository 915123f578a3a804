import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import type { AttemptResult, Resolve } from '../../src/core/ports.ts'
import {
  isPublicAddress,
  parseAllowedHosts,
  registrationProblem,
} from '../../src/platform/outbound/address.ts'
import { createLookup, createSend } from '../../src/platform/outbound/send.ts'
import { callbackUrlCases, createCaseResolve } from '../support/callback-urls.ts'
import { authority } from '../support/certificates.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

const noneAllowed = { callbackHosts: parseAllowedHosts('').hosts, isLibrary: false }
const refused: AttemptResult = {
  status: 'FAILED',
  status_code: null,
  response_time: null,
  result: 'address refused',
}
/** Stands for a service on the private network, and counts the connections to it. */
let receiver: Receiver

before(async () => {
  receiver = await startReceiver()
})
after(() => receiver.close())

async function connectionsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = receiver.connections()
  await work()
  return receiver.connections() - before
}

async function post(url: string, resolve: Resolve, allowed = ''): Promise<AttemptResult> {
  const { hosts } = parseAllowedHosts(allowed)
  const send = createSend({ resolve, allowed: hosts, ca: authority })
  const outcome = await send({ url, headers: {}, body: '{}' })
  send.close()
  return outcome
}

test('No connection is opened to a private address, however it is named, at registration or at an attempt.', async () => {
  const [name, publicly] = ['a.example.com', '93.184.215.14']
  for (const [host, addresses] of [
    [name, ['127.0.0.1']],
    [name, [publicly, '127.0.0.1']],
    [name, ['127.0.0.1', publicly]],
    [name, ['::ffff:127.0.0.1']],
    [name, ['localhost']],
    ['127.0.0.1', [publicly]],
    ['0x7f.1', [publicly]],
    ['[::1]', [publicly]],
    ['[::ffff:127.0.0.1]', [publicly]],
    ['localhost', [publicly]],
  ] as const) {
    const url = `https://${host}:${receiver.port}/`
    const resolve = async () => [...addresses]
    const opened = await connectionsDuring(async () => {
      assert.deepEqual(await post(url, resolve), refused, `${host} ${addresses}`)
      assert.notEqual(await registrationProblem(url, noneAllowed, resolve), undefined)
    })
    assert.equal(opened, 0)
  }
})

test('No connection is opened to a name that was public at registration and is private at the attempt.', async () => {
  const resolve = createCaseResolve()
  const url = `https://rebind.example.com:${receiver.port}/`
  assert.equal(await registrationProblem(url, noneAllowed, resolve), undefined)
  const opened = await connectionsDuring(async () => {
    assert.deepEqual(await post(url, resolve), refused)
  })
  assert.equal(opened, 0)
})

test('No connection is opened to the target of a redirect.', async () => {
  const redirecting = await startReceiver({
    onRequest: ({ response }) =>
      response.writeHead(302, { location: `https://receiver.test:${receiver.port}/` }).end(),
  })
  const opened = await connectionsDuring(async () => {
    const resolve = async () => ['127.0.0.1']
    const outcome = await post(redirecting.url, resolve, 'localhost,receiver.test')
    assert.equal(outcome.result, '302 Found')
  })
  assert.equal(opened, 0)
  await redirecting.close()
})

test('A connection to a private address is opened only where its host and port are listed, also over http.', async () => {
  const address = `receiver.test:${receiver.port}`
  for (const [url, listed, opened] of [
    [`https://${address}/`, address, 1],
    [`https://${address}/`, 'receiver.test:1', 0],
    [`http://${address}/`, '', 0],
  ] as const) {
    const found = await connectionsDuring(async () => {
      const { result } = await post(url, async () => ['127.0.0.1'], listed)
      assert.equal(result, opened ? '200 OK' : refused.result)
    })
    assert.equal(found, opened, `${url} with ${listed}`)
  }
})

test('A message to a callback URL that registration refuses is refused too.', async () => {
  for (const { url } of callbackUrlCases.filter(({ expect }) => expect === 'reject'))
    assert.deepEqual(await post(url, createCaseResolve()), refused, url)
})

test('The look-up returns one address or all, as the socket asks.', async () => {
  const [first, second] = ['93.184.215.14', '2606:2800:21f::1']
  const lookup = createLookup(async () => [first, second], isPublicAddress)
  const found = (options: object) =>
    new Promise((resolve, reject) =>
      lookup('dual.example.com', options, (error, address, family) =>
        error ? reject(error) : resolve([address, family]),
      ),
    )
  const all = [
    { address: first, family: 4 },
    { address: second, family: 6 },
  ]
  assert.deepEqual(await found({ all: true }), [all, undefined])
  assert.deepEqual(await found({}), [first, 4])
})

test('A connection resolves its name once, so the checked address is the one used.', async () => {
  let asked = 0
  const resolve = async () => {
    asked += 1
    return asked === 1 ? ['127.0.0.1'] : assert.fail('asked again')
  }
  const outcome = await post(`https://receiver.test:${receiver.port}/`, resolve, 'receiver.test')
  assert.equal(outcome.result, '200 OK')
  assert.equal(asked, 1)
})

test('Proxy variables are ignored.', async t => {
  const proxied: string[] = []
  const proxy = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', data => {
      proxied.push(data.toString('latin1').split('\r\n')[0] ?? '')
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n')
    })
  })
  const address = `http://127.0.0.1:${await listenUntilEnd(t, proxy)}`
  const url = `https://receiver.test:${receiver.port}/`

  // As a control, `fetch` shows that Node obeys the variables in this process.
  const script = `
    import { createSend } from ${JSON.stringify(import.meta.resolve('../../src/platform/outbound/send.ts'))}
    const [url, ca] = process.argv.slice(1)
    const allowed = new Set(['receiver.test'])
    const send = createSend({ resolve: async () => ['127.0.0.1'], allowed, ca })
    const { result } = await send({ url, headers: {}, body: '{}' })
    const plain = await send({ url: url.replace('https:', 'http:'), headers: {}, body: '{}' })
    send.close()
    await fetch('https://control.test/').catch(() => {})
    console.log(JSON.stringify([result, plain.result]))`
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy']
  const variables = Object.fromEntries(names.map(name => [name, address]))
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, url, authority], {
    env: { NODE_USE_ENV_PROXY: '1', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  const opened = await connectionsDuring(async () => {
    const printed = child.stdout.setEncoding('utf8').toArray()
    const [output] = await Promise.all([printed, once(child, 'exit')])
    assert.deepEqual(JSON.parse(output.join('')), ['200 OK', 'connection failed'])
  })
  assert.equal(opened, 2)
  assert.deepEqual(proxied, ['CONNECT control.test:443 HTTP/1.1'])
})
