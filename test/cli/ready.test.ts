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
    return (options.wrapper ? runProcess : runHere)({ ...options, args: line.split(' '), env })
  }

  test('The error for an answer that is not of Farthing, or of a proxy, names it and its status, and advises no start', async t => {
    const statuses = { '': 403, '/down': 502, '/moved': 301, '/page': 200 }
    const other = createServer(({ url = '' }, response) => {
      const [, status = 403] =
        Object.entries(statuses).find(([path]) => path && url.startsWith(path)) ?? []
      const headers = status === 301 ? { Location: 'https://farthing.example' } : {}
      response.writeHead(status, headers).end('<h1>Sign in</h1>')
    })
    other.on('connect', (_request, socket) => socket.end('HTTP/1.1 407 Who are you\r\n\r\n'))
    const address = `http://127.0.0.1:${await listenUntilEnd(t, other)}`
    async function assertSays(line: string, says: string, options?: ProcessOptions) {
      const { code, stdout, stderr } = await farthing(line, options)
      assert.deepEqual([code, stdout], [4, ''], line)
      assert.ok(stderr.startsWith(`farthing: ${says}`), `${line}: ${stderr}`)
      assert.doesNotMatch(stderr, /Start it/)
    }
    // Node reads these variables when a process starts. The last case shows that none is used for this machine.
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address, NODE_USE_ENV_PROXY: '1' }
    for (const [line, says] of [
      ['pay --url http://farthing.example', `the proxy ${address} answered 403 in place of`],
      ['ready --url https://farthing.example', `the proxy ${address} answered 407 in place of`],
      [`logs --url ${address}`, `not Farthing answered 403 at ${address}, but a proxy`],
    ] as const)
      await assertSays(line, says, { env, wrapper: [] })
    for (const [path, answered] of Object.entries(statuses)) {
      const url = address + path
      const says = `not Farthing answered ${answered} at ${url}, but a proxy`
      for (const command of ['pay', 'logs', 'listen', 'ready', 'check', 'resend 0'])
        await assertSays(`${command} --url ${url}`, says)
      if (answered < 400) continue
      const { stdout } = await farthing(`doctor --json --url ${url}`)
      const { status, sentence, command } = JSON.parse(stdout).checks.at(-1)
      assert.deepEqual([status, command], ['fail', undefined])
      assert.ok(sentence.toLowerCase().startsWith(says.toLowerCase()), sentence)
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
