/** The library's connection to the service: where requests go, and how it ends. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { ControlError, connectFarthing, startFarthing } from '../../src/testing/library.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { startService } from '../support/service.ts'
import { connected, KEY } from './connected.ts'

const listen = async (t: TestContext, respond: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listenUntilEnd(t, createServer(respond))}`

test('On a Node that is too old each way in says in one sentence which it needs', () => {
  const library = new URL('../../src/testing/library.ts', import.meta.url)
  const problemsOn = (version: string, change = '') => {
    const script = `Object.defineProperty(process.versions, 'node', { value: '${version}' })
      ${change}
      const { connectFarthing, startFarthing } = await import('${library}')
      const own = { url: 'http://127.0.0.1:1', key: 'a-key-of-our-tests' }
      for (const call of [() => connectFarthing(own), startFarthing])
        await call().catch(({ message }) => console.log(message))`
    const args = ['--input-type=module', '--eval', script]
    return spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout
  }
  const both =
    /^connectFarthing needs Node 20\.19\.0 or newer, and this is 2\d\.\d+\.\d\nstartFarthing needs Node 24\.18\.1 or newer, .* use connectFarthing\n$/
  assert.match(problemsOn('20.18.3'), both)
  assert.match(problemsOn('22.1.0', 'process.getBuiltinModule = undefined'), both)
  assert.match(problemsOn('20.19.0'), /^connectFarthing: no Farthing responds/)
})

test('stop() lets the service respond to what is under way, and says why later requests fail', async () => {
  const stopped = await startFarthing()
  const { payment_id } = await stopped.payment()
  const plan = await stopped.plan({ on: 'readPayment', delay: 2_000 })
  const slow = stopped.send('GET', `/v1/payments/${payment_id}`)
  const waiting = assert.rejects(stopped.waitForPayment('none'), /stop\(\) was called$/)
  while ((await plan.counts()).seen === 0) await new Promise(setImmediate)
  await stopped.stop()
  assert.equal((await slow).status, 200)
  await waiting
  await assert.rejects(stopped.send('GET', '/healthz'), /^Error: GET \/healthz has no response: st/)
})

function forward(url: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, headers } = incoming
  const onward = request(url, { method, headers })
  onward.on('response', answer => {
    response.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(response)
  })
  onward.end()
}

describe('A connection', () => {
  const farthing = connected()

  test('stop() of a connection ends its waits with the reason', async () => {
    const connected = await connectFarthing({ url: farthing().url, key: farthing().key })
    const waiting = assert.rejects(connected.waitForPayment('none'), /stop\(\) was called$/)
    await connected.stop()
    await waiting
  })

  test('the error of an account that is kept has no link where the console is off', async t => {
    const off = await startService('sqlite', {
      control: true,
      env: { FARTHING_CONSOLE: 'false', FARTHING_API_KEY: KEY },
    })
    t.after(() => off.stop())
    await using connected = await connectFarthing({ url: off.baseUrl, key: KEY })
    const kept = await connected.account({ keepOnFailure: true })
    const end = `\nIts account ${kept.name} is kept, without pages: the console is off (FARTHING_CONSOLE=false)`
    const wait = kept.waitForPayment('none', { timeout: 0 })
    await assert.rejects(wait, ({ message }: Error) => message.endsWith(end))
  })

  test('send sends the key to the service only', async t => {
    const asked: unknown[] = []
    const other = await listen(t, ({ headers }, response) => {
      asked.push(headers.authorization)
      response.end()
    })
    for (const path of [`${other}/x`, `${farthing().url}.a.test`, 'https://a.test', 'v1/payments'])
      await assert.rejects(
        farthing().send('GET', path),
        /^TypeError: send: .+ is not an address of /,
      )
    assert.equal((await farthing().send('GET', `//${other.slice(7)}/x`)).status, 404)
    assert.deepEqual(asked, [])
    const { payment_id, _links } = await farthing().payment()
    for (const path of [_links.self.href, `/v1/payments/${payment_id}`])
      assert.equal((await farthing().send('GET', path)).body.payment_id, payment_id)
  })

  test('connectFarthing keeps the path of an address', async t => {
    const proxy = await listen(t, (incoming, response) => {
      const { url = '' } = incoming
      assert.match(url, /^\/pay\/control/)
      forward(farthing().url + url.slice('/pay'.length), incoming, response)
    })
    const { key } = farthing()
    await using connected = await connectFarthing({ url: `${proxy}/pay/`, key })
    assert.equal(connected.url, `${proxy}/pay`)
    assert.ok(await connected.clock.now())
    await assert.rejects(connected.send('GET', '/../control'), TypeError)
  })

  test('a wait that fails is a WaitError also if the state cannot be read', async t => {
    const proxy = await listen(t, (incoming, response) => {
      const { url = '' } = incoming
      if (/^\/control$|wait=/.test(url)) forward(farthing().url + url, incoming, response)
      else response.writeHead(503).end()
    })
    await using connected = await connectFarthing({ url: proxy, key: farthing().key })
    await assert.rejects(
      connected.waitForPayment('R-7', { timeout: 0 }),
      /^WaitError: waited 0 s for R-7\. More could not be read: GET \/control\/payments.+: 503/,
    )
  })

  test('connectFarthing says what is wrong with an address, a key and a server', async t => {
    const { url, key } = farthing()
    const refused = (to: object, how: RegExp) =>
      assert.rejects(connectFarthing({ url, key, ...to }), how)
    for (const wrong of ['nope', 'ftp://a.test', `${url}/?a=1`, 'http://u:p@a.test', `${url}/v1`])
      await refused(
        { url: wrong },
        /^TypeError: connectFarthing: url: '.+' is not an address such as /,
      )
    await refused({ key: `${key}\n` }, /^TypeError: connectFarthing: key has a space, a line break/)
    await assert.rejects(connectFarthing({ url, key: 'wrong' }), ControlError)
    const nobody =
      /^Error: connectFarthing: no Farthing responds at http:\S+: (GET|connect ECONNREF)/
    for (const status of [200, 404])
      for (const body of ['<html>', '{"a":1}', '{', 'null', '']) {
        const other = await listen(t, (_request, response) =>
          response.writeHead(status, { 'Content-Type': 'application/json' }).end(body),
        )
        await refused({ url: other }, nobody)
      }
    await refused({ url: 'http://127.0.0.1:1' }, nobody)
  })
})
