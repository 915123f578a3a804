/** The webhook with which `farthing listen` goes on after a restart, a reset or a deletion. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { runHere } from '../support/command.ts'
import { freePort, listenUntilEnd } from '../support/ports.ts'
import { type FarthingProcess, startCommand, startProcess } from '../support/process.ts'
import { startRelay } from '../support/relay.ts'

const FARTHING_API_KEY = 'key-of-the-listener'
const settings = { DATABASE_URL: 'sqlite::memory:', FARTHING_API_KEY }

let service: FarthingProcess
before(async () => {
  service = await startProcess({ env: { ...settings, PORT: String(await freePort()) } })
})
after(() => service.kill())

test('farthing listen receives with a new signing key after a restart of a service in memory', async t => {
  const env = { FARTHING_API_KEY, FARTHING_URL: service.baseUrl }
  const args = ['listen', '--name', 'test', '--json']
  const listen = await startCommand({ args, env }, '"ready":true')
  t.after(() => listen.kill())
  await service.kill()
  service = await startProcess({ env: { ...settings, PORT: new URL(env.FARTHING_URL).port } })
  while (!listen.stderr().includes('The service is back')) await setTimeout(20)
  const trigger = () => runHere({ args: ['trigger', 'card_payment_cancelled'], env })
  assert.match((await trigger()).stdout, / {3}card_payment_cancelled {3}200 OK\n/)
  const [first, second, message] = listen
    .stdout()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  assert.ok(second.ready)
  assert.notEqual(second.webhook_id, first.webhook_id)
  const [, key = ''] = /new signing key.*: (webhook_test_\w+)\n/.exec(listen.stderr()) ?? []
  const signature = createHmac('sha256', key).update(message.body).digest('hex')
  assert.equal(message.headers['Pay-Signature'], signature)
  await listen.terminate()
  assert.match((await trigger()).stdout, /nobody is listening\n/, 'it said that it stopped')
})

test('farthing listen asks for the webhook that it registered last, and pauses after each error', async t => {
  const errors = [404, 503, 404]
  const asked: string[] = []
  let registered = 0
  const other = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`)
    const isLook = url?.includes('/next') && !url.endsWith('?wait=0')
    if (isLook && errors.length === 0) return // the request waits
    if (isLook) response.statusCode = errors.shift() ?? 500
    if (method === 'POST') registered += 1
    const signing_key = `key-${Math.min(registered, 2)}`
    // Only the errors need `code`.
    response.end(JSON.stringify({ webhook_id: registered, signing_key, code: 'C0200' }))
  })
  const port = await listenUntilEnd(t, other)
  t.after(() => other.closeAllConnections())
  const began = performance.now()
  const listen = await startCommand(
    { args: ['listen', '--key', 'any', '--url', `http://127.0.0.1:${port}`] },
    'Ready',
  )
  t.after(() => listen.kill())
  const [post, look] = ['POST /control/listeners', (id: number) => `GET /control/listeners/${id}`]
  while (!asked.includes(`${look(3)}/next?wait=14000`)) await setTimeout(20)
  assert.ok(performance.now() - began > 3 * 250)
  await listen.terminate()
  assert.deepEqual(asked, [
    post,
    `${look(1)}/next?wait=0`,
    `${look(1)}/next`,
    post,
    `${look(2)}/next`,
    `${look(2)}/next?wait=0`,
    `${look(2)}/next?wait=14000`,
    post,
    `${look(3)}/next?wait=14000`,
    'DELETE /control/listeners/3',
  ])
  assert.equal(listen.stdout().match(/key-1/g)?.length, 1)
  assert.match(listen.stderr(), /^The account was reset, .*: key-2\n$/)
})

test('farthing listen ends with a sentence when its webhook is deleted, also while it cannot reach the service', async t => {
  const port = Number(new URL(service.baseUrl).port)
  const relay = await startRelay(port)
  t.after(() => relay.close())
  const listening = async () => {
    const env = { FARTHING_API_KEY, FARTHING_URL: `http://127.0.0.1:${relay.port}` }
    const listen = await startCommand({ args: ['listen', '--name', 'test'], env }, 'Ready')
    t.after(() => listen.kill())
    return listen
  }
  const forget = async () => {
    const env = { FARTHING_API_KEY, FARTHING_URL: service.baseUrl }
    assert.equal((await runHere({ args: ['listen', '--name', 'test', '--forget'], env })).code, 0)
  }
  const endsWithSentence = async ({ exited, stderr }: Awaited<ReturnType<typeof listening>>) => {
    assert.deepEqual(await exited, { code: 1, signal: null })
    assert.match(
      stderr(),
      /farthing: the webhook of this listener was deleted, so it gets no more messages. Start farthing listen again/,
    )
  }
  const reached = await listening()
  await forget()
  await endsWithSentence(reached)
  const away = await listening()
  assert.equal(away.stderr(), '', 'the one before does not count as another')
  relay.leadTo(1)
  while (!away.stderr().includes('Trying again')) await setTimeout(20)
  await forget()
  relay.leadTo(port)
  await endsWithSentence(away)
})
