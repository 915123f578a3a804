import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { assets } from '../../../src/platform/web/assets.ts'
import { exchange } from '../../support/client.ts'
import { startProcess } from '../../support/process.ts'
import { open } from '../../support/raw-http.ts'

/** Paths whose content is read or loaded at the first request. */
const PATHS = [
  `/assets/${assets.css}`,
  ...'/ /docs /openapi.json /control/openapi.json /secure/mistyped /console/sign-in'.split(' '),
]

const LIMIT = 128

async function exhaustDescriptors(fromSources: boolean): Promise<void> {
  const wrapper = ['sh', '-c', `ulimit -n ${LIMIT}; exec "$0" "$@"`]
  const env = { DATABASE_URL: 'sqlite::memory:', LOG_LEVEL: 'warn', FARTHING_CONTROL: 'true' }
  const service = await startProcess({ wrapper, env, fromSources })
  // This connection is open before all others.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const sockets: Awaited<ReturnType<typeof open>>[] = []
  const ask = async (path: string, over: Agent | false = agent) =>
    (await exchange('GET', service.baseUrl + path, {}, undefined, over)).status
  const inUse = () => readdirSync(`/proc/${service.pid}/fd`).length
  try {
    // The service takes connections until it has no descriptor, and then closes them.
    assert.equal(await ask('/healthz'), 200)
    while (sockets.length < LIMIT) {
      sockets.push(await open(service.baseUrl))
      await ask('/healthz')
    }
    const refused: string[] = []
    for (const path of PATHS) if ((await ask(path)) === 500) refused.push(path)
    for (const path of ['/openapi.json', `/assets/${assets.css}`])
      assert.ok(refused.includes(path), `${path} was read without a file descriptor`)
    while (!service.output().includes('may open no further file')) await setTimeout(20)
    assert.match(service.output(), /no further file: \d+ connections are open"/)
    for (const socket of sockets) socket.destroy()
    while (inUse() > LIMIT - sockets.length / 4) await setTimeout(20)
    for (const path of PATHS)
      assert.equal(await ask(path), path === '/secure/mistyped' ? 404 : 200, path)
    assert.equal(await ask('/healthz', false), 200, 'a new connection is taken again')
  } finally {
    agent.destroy()
    for (const socket of sockets) socket.destroy()
    await service.kill()
  }
}

test('The log says when the process may open no further file, and what could not be read then is served at the next request', () =>
  exhaustDescriptors(false))

test('What could not be loaded from the sources while all file descriptors were in use is served at the next request', () =>
  exhaustDescriptors(true))
