import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import fastify from 'fastify'
import { linkTo } from '../../src/platform/http/addresses.ts'
import { createLazyApp } from '../../src/platform/http/server.ts'
import { listenUntilEnd } from '../support/ports.ts'
import { open } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'

test('A lazy app that could not be built answers with the JSON of an unexpected error, and is built again for the next request', async t => {
  const faults: unknown[] = []
  let tries = 0
  const lazy = createLazyApp(
    ['/control'],
    async () => {
      if (++tries === 1) throw new Error('the code could not be read')
      return fastify().get('/control/clock', () => ({ tries }))
    },
    error => faults.push(error),
  )
  const server = createServer((request, response) => {
    if (!lazy.takes(request, response)) response.writeHead(404).end()
  })
  const port = await listenUntilEnd(t, server)
  t.after(() => lazy.close())
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/control/clock`)
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const { status, body } = await ask()
  assert.equal(status, 500)
  assert.equal(body.code, 'P0999')
  assert.deepEqual(Object.keys(body), ['code', 'description'])
  assert.equal(faults.length, 1)
  assert.deepEqual(await ask(), { status: 200, body: { tries: 2 } })
})

test('While the tools are built for their first request, a later request is answered', async t => {
  const { baseUrl, stop } = await startService('sqlite', { control: true })
  t.after(stop)
  const answered: string[] = []
  const sockets = await Promise.all([open(baseUrl), open(baseUrl)])
  const answers = ['/control/openapi.json', '/healthz'].map(async (path, i) => {
    sockets[i]?.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    const [data] = await once(sockets[i] ?? sockets[0], 'data')
    answered.push(`${path} ${String(data).slice(9, 12)}`)
    sockets[i]?.destroy()
  })
  await Promise.all(answers)
  assert.deepEqual(answered, ['/healthz 200', '/control/openapi.json 200'])
})

test('the URL of a server has brackets around IPv6, and localhost for all addresses', async t => {
  const server = createServer()
  const port = await listenUntilEnd(t, server)
  for (const [host, name] of Object.entries({
    '::1': '[::1]',
    '::': 'localhost',
    '0.0.0.0': 'localhost',
    farthing: 'farthing',
  }))
    assert.equal(linkTo(host, server), `http://${name}:${port}`)
})
