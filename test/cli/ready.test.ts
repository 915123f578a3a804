import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { runHere } from '../support/command.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { type ProcessOptions, runProcess } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'

const KEY = 'key-of-the-command-line'

describe('How commands find the service', () => {
  let service: Service
  before(async () => {
    service = await startService('sqlite', { env: { FARTHING_API_KEY: KEY } })
  })
  after(() => service.stop())

  async function farthing(line: string, options: ProcessOptions = {}) {
    for (const { recorder } of service.apps) await recorder?.flush()
    const env = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY: KEY, ...options.env }
    const run = options.wrapper ? runProcess : runHere
    return run({ ...options, args: line.split(' '), env })
  }

  test('The error for an answer of a proxy, or of another program, names it and its status, and advises no start', async t => {
    const proxy = createServer(({ url }, response) =>
      response
        .writeHead(/^\/(down|control\/listeners)/.test(url ?? '') ? 502 : 403)
        .end('<h1>No</h1>'),
    )
    proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 407 Who are you\r\n\r\n'))
    const address = `http://127.0.0.1:${await listenUntilEnd(t, proxy)}`
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address, NODE_USE_ENV_PROXY: '1' }
    const refusals: [line: string, says: string][] = [
      ['pay --url http://farthing.example', `the proxy ${address} answered 403 in place of`],
      ['ready --url https://farthing.example', `the proxy ${address} answered 407 in place of`],
      [`logs --url ${address}`, `not Farthing answered 403 at ${address}, but a proxy`],
      [`listen --url ${address}`, `not Farthing answered 502 at ${address}, but a proxy`],
      [`ready --url ${address}`, `not Farthing answered 403 at ${address}, but a proxy`],
    ]
    for (const [nth, [line, says]] of refusals.entries()) {
      // Node reads the variables when a process starts. The third shows that a process passes no proxy to this machine.
      const { code, stderr } = await farthing(line, nth < 3 ? { env, wrapper: [] } : { env })
      assert.equal(code, 4, line)
      assert.ok(stderr.startsWith(`farthing: ${says}`), stderr)
      assert.doesNotMatch(stderr, /Start it/)
    }
    for (const [url, status] of Object.entries({ [address]: 403, [`${address}/down`]: 502 })) {
      const { stdout } = await farthing(`doctor --json --url ${url}`)
      const { status: result, sentence, command } = JSON.parse(stdout).checks.at(-1)
      assert.deepEqual([result, command], ['fail', undefined])
      assert.ok(sentence.startsWith(`Not Farthing answered ${status} at ${url}, but`), sentence)
    }
  })

  test('The error for a page, or for a redirection, where Farthing answers with JSON says that it was not Farthing', async t => {
    const other = createServer(({ url }, response) =>
      url?.startsWith('/moved')
        ? response.writeHead(301, { Location: 'https://farthing.example' }).end()
        : response.end('<h1>Sign in</h1>'),
    )
    const address = `http://127.0.0.1:${await listenUntilEnd(t, other)}`
    for (const [url, status] of Object.entries({ [address]: 200, [`${address}/moved`]: 301 }))
      for (const command of ['pay', 'logs', 'listen', 'ready', 'check', 'resend 0']) {
        const { code, stdout, stderr } = await farthing(`${command} --url ${url}`)
        const says = `farthing: not Farthing answered ${status} at ${url}, but a proxy`
        assert.ok(stderr.startsWith(says), `${command}: ${stderr}`)
        assert.deepEqual([code, stdout], [4, ''])
      }
  })

  test('farthing ready needs no key, finds the service by the settings that start it, and is recorded nowhere', async () => {
    const url = service.baseUrl
    const requests = async () => (await farthing('logs --since 1m --json')).stdout
    const before = await requests()
    const env = { FARTHING_API_KEY: '' }
    const { code, stdout } = await farthing('ready', { env })
    assert.deepEqual([code, stdout], [0, `${url} is ready.\n`])
    const { port } = new URL(url)
    for (const HOST of ['127.0.0.1', '0.0.0.0', '::']) {
      const same = { ...env, FARTHING_URL: '', PORT: port, HOST }
      const found = await farthing('ready --json', { env: same })
      assert.deepEqual(JSON.parse(found.stdout), { url, ready: true }, HOST)
    }
    assert.equal(await requests(), before)
  })

  test('farthing logs says if it has nothing of the payment', async () => {
    const { code, stdout, stderr } = await farthing('logs --payment nosuch')
    assert.deepEqual([code, stdout], [0, ''])
    assert.equal(stderr, 'The record has no request of a payment nosuch.\n')
  })
})
