import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createClient, sendUnchecked } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { tempDatabase } from '../support/folders.ts'
import { freePort } from '../support/ports.ts'
import { type FarthingProcess, startCommand, startProcess } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'

type Message = { webhook_id: string; message_id: string }

describe('farthing listen', () => {
  const FARTHING_API_KEY = 'key-of-the-listener'
  // On a busy machine the first attempt may take more than two seconds. Lists have it last.
  const ONLY_LATE = /^(The service no longer waited for this response.*\n)*$/
  const shared = { FARTHING_API_KEY, FARTHING_CALLBACK_HOSTS: 'localhost,127.0.0.1' }
  const settings = { DATABASE_URL: tempDatabase(), ...shared, PORT: '' }
  let running: FarthingProcess
  let receiver: Receiver
  before(async () => {
    settings.PORT = String(await freePort())
    running = await startProcess({ env: settings })
    receiver = await startReceiver({
      plain: true,
      onRequest: ({ request, response }) => {
        response.statusCode = request.body.includes('card_payment_failed') ? 500 : 200
        response.end('said so')
      },
    })
  })
  after(async () => {
    await running.kill()
    await receiver.close()
  })

  const env = () => ({ FARTHING_API_KEY, FARTHING_URL: running.baseUrl })
  const farthing = (...args: string[]) => runHere({ args, env: env() })
  const json = async (...args: string[]) => JSON.parse((await farthing(...args, '--json')).stdout)
  /** Waits until the listener has sent these messages by hand, and the service has recorded it. */
  async function untilSent(...message_ids: string[]) {
    for (const id of message_ids) {
      const url = `${running.baseUrl}/control/messages?message_id=${id}`
      const read = async () => (await sendUnchecked(url, { key: FARTHING_API_KEY })).body.results[0]
      while (!(await read()).accepted_by_hand) await setTimeout(20)
    }
  }
  async function listening(t: TestContext, ready: string, ...args: string[]) {
    const name = args.includes('--name') ? [] : ['--name', 'test']
    const started = await startCommand({ args: ['listen', ...name, ...args], env: env() }, ready)
    t.after(() => started.terminate())
    return started
  }

  test('farthing listen forwards the bytes, shows the responses and keeps its signing key', async t => {
    const printKey = ['listen', '--name', 'test', '--print-signing-key']
    const { stdout } = await farthing(...printKey)
    assert.match(stdout, /^webhook_test_[0-9a-v]{26}\n$/)
    const signing_key = stdout.trim()
    assert.deepEqual(await json(...printKey), { signing_key })
    const to = `${receiver.url}?x=1`
    const listen = await listening(t, 'Ready', '--forward-to', to, '--header', 'X-Team: a')
    const [first, second] = listen.stdout().split('\n')
    assert.equal(first, `Ready. Forwarding to ${to} as "test"`)
    assert.match(second ?? '', new RegExp(`^Signing key: ${signing_key}  \\(`))
    const paid = await farthing('pay', 'declined', '--reference', 'Café')
    const failed = /test {3}card_payment_failed {3}500 Internal Server Error \(2 attempts\)/
    assert.match(paid.stdout, failed)
    const [{ path, headers, body } = assert.fail('none')] = await receiver.next(2)
    assert.deepEqual([path, headers['x-team']], ['/hook?x=1', 'a'])
    assert.match(String(headers['user-agent']), /^Farthing\//)
    assert.match(body, /Café/)
    const signature = createHmac('sha256', signing_key).update(body).digest('hex')
    assert.equal(headers['pay-signature'], signature)
    assert.deepEqual(await listen.terminate(), { code: 0, signal: null })
    assert.match(
      listen.stdout(),
      /\n[\d:.]{12} {2}card_payment_failed {2}[0-9a-v]{26} {2}500 {2}\d+ ms {2}said so\n/,
    )
    assert.match(listen.stderr(), ONLY_LATE)
  })

  test('farthing listen forwards to a port of this machine, of whose registered webhook it warns', async t => {
    const api = createClient([running.baseUrl], FARTHING_API_KEY)
    const { port } = new URL(receiver.url)
    const { body } = await api.post('/v1/webhooks', { callback_url: `http://127.0.0.1:${port}/` })
    t.after(() => api.delete(`/v1/webhooks/${body.external_id}`))
    const listen = await listening(t, 'Signing key', '--forward-to', port)
    assert.match(listen.stdout(), new RegExp(`^Ready\\. Forwarding to http://localhost:${port} as`))
    await farthing('trigger', 'card_payment_cancelled')
    while (!listen.stdout().includes('card_payment_cancelled')) await setTimeout(20)
    assert.match(listen.stdout(), /card_payment_cancelled {2}[0-9a-v]{26} {2}200/)
    assert.match(
      listen.stderr(),
      new RegExp(`^The webhook ${body.external_id} has this address too: your receiver gets each`),
    )
  })

  test('farthing listen takes no event types from a listener of its name, and asks for another name', async t => {
    const events = ['--events', 'card_payment_refunded', '--events', 'card_payment_cancelled']
    const first = await listening(t, '"ready":true', '--json', ...events)
    for (const others of [[], ['--events', 'card_payment_refunded']]) {
      const { code, stderr } = await farthing('listen', '--name', 'test', ...others)
      assert.equal(code, 1)
      assert.match(stderr, /409 C0409: a listener with this name .*: choose another name/)
    }
    const { stdout } = await farthing('listen', '--name', 'test', '--print-signing-key')
    assert.match(stdout, /^webhook_test_/)
    const second = await listening(t, '"ready":true', '--json', ...events)
    assert.match(second.stderr(), /Another listener has this name/)
    await second.terminate()
    const types = ['card_payment_succeeded', 'card_payment_refunded', 'card_payment_cancelled']
    for (const type of types) await farthing('trigger', type)
    while (!first.stdout().includes('cancelled')) await setTimeout(20)
    const received = first.stdout().trim().split('\n').slice(1)
    assert.deepEqual(
      received.map(line => JSON.parse(line).event_type),
      types.slice(1),
    )
  })

  test('farthing listen prints messages as JSON without a receiver, and with --missed first those that nobody received, once', async t => {
    const [missed] = (await json('trigger', 'card_payment_cancelled')).messages
    assert.equal(missed.attempts.length, 1)
    assert.equal(missed.attempts[0].result, 'nobody is listening')
    const listen = await listening(t, missed.message_id, '--json', '--missed')
    assert.equal(JSON.parse(listen.stdout().split('\n')[0] ?? '').forward_to, null)
    const other = await listening(t, '"ready":true', '--json')
    assert.match(other.stderr(), /Another listener has this name/)
    await other.terminate()
    await untilSent(missed.message_id)
    await listen.terminate()
    const later = await json('trigger', 'card_payment_cancelled')
    const again = await listening(t, later.messages.at(-1).message_id, '--json', '--missed')
    assert.doesNotMatch(again.stdout(), new RegExp(missed.message_id))
  })

  test('farthing listen --missed sends a message whose second attempt found nobody listening', async t => {
    const silent = await startReceiver({ plain: true, onRequest: () => {} })
    t.after(() => silent.close())
    const listen = await listening(t, 'Ready', '--forward-to', silent.url.replace('http://', ''))
    const paying = farthing('pay', 'declined')
    await silent.next(1)
    await listen.terminate()
    const { stdout } = await paying
    assert.match(stdout, / {3}card_payment_failed {3}nobody is listening \(2 attempts\)\n/)
    const [payment_id = ''] = stdout.split(' ')
    await listening(t, payment_id, '--json', '--missed')
  })

  test('farthing listen continues after a restart of the service', async t => {
    const listen = await listening(t, '"ready":true', '--json', '--forward-to', receiver.url)
    await running.terminate()
    while (!listen.stderr().includes('Trying again')) await setTimeout(20)
    running = await startProcess({ env: settings })
    while (!listen.stderr().includes('The service is back')) await setTimeout(20)
    const { stdout } = await farthing('trigger', 'card_payment_cancelled')
    assert.match(stdout, /card_payment_cancelled {3}200 OK/)
    await listen.kill()
    for (const { attempts } of (await json('pay')).messages)
      assert.equal(attempts[0].result, 'nobody is listening')
  })

  test('farthing listen reports a receiver that is away as any other webhook, and records the code', async t => {
    const listen = await listening(t, 'Ready', '--forward-to', 'http://127.0.0.1:1/')
    const [message] = (await json('pay', 'declined')).messages
    assert.equal(message.attempts[0].result, 'connection failed')
    assert.match(listen.stdout(), / {2}connection failed \(ECONNREFUSED\) {2}\d+ ms\n/)
    const again = await farthing('resend', message.message_id)
    assert.match(again.stdout, /^connection failed \(ECONNREFUSED\)/)
  })

  test('farthing listen reports a response, whatever the receiver writes into it', async t => {
    const responses = [
      // As JSON some bytes of a header have six characters, and those of a body a third more.
      ['Taken', Array.from({ length: 15 }, (_, i) => [`X-${i}`, 'ü"\x01'.repeat(1_300)]), 16_384],
      ['d\xe9j\xe0 \x85 vu', [['X-Long', 'x'.repeat(60_000)]], 70_000],
      ['', [['X-Empty', '']], 0],
    ] as const
    let response: (typeof responses)[number] = responses[0]
    const large = await startReceiver({
      plain: true,
      onRequest: ({ socket }) => {
        const [reason, headers, body] = response
        const lines = headers.map(([name, value]) => `${name}: ${value}`)
        const head = [`HTTP/1.1 200 ${reason}`, ...lines, `Content-Length: ${body}`]
        socket.end(Buffer.from(`${head.join('\r\n')}\r\n\r\n${'é'.repeat(body)}`, 'latin1'))
      },
    })
    t.after(() => large.close())
    const listen = await listening(t, 'Ready', '--forward-to', large.url)
    for (response of responses) {
      const { messages } = await json('trigger', 'card_payment_cancelled')
      const { delivery, attempts } = messages.at(-1)
      if (attempts.length > 1) assert.equal(attempts.pop().result, 'timeout')
      assert.deepEqual([delivery, attempts.length, attempts[0].status_code], ['SUCCESSFUL', 1, 200])
    }
    await listen.terminate()
    assert.match(listen.stderr(), ONLY_LATE)
  })

  test('farthing listen prints of a receiver that does not answer in time only the line of the message', async t => {
    const silent = await startReceiver({ plain: true, onRequest: () => {} })
    t.after(() => silent.close())
    const listen = await listening(t, 'Ready', '--forward-to', silent.url)
    await farthing('pay', 'declined')
    while (listen.stdout().match(/ {2}timeout {2}/g)?.length !== 2) await setTimeout(20)
    await listen.terminate()
    assert.equal(listen.stderr(), '')
  })

  test('farthing listen --forget deletes the webhook of a listener, and doctor proposes to send what it missed until it is sent', async t => {
    const name = ['--name', 'To be forgotten']
    await farthing('listen', ...name, '--print-signing-key')
    const paid: Message[] = (await json('pay')).messages
    const diagnose = async () =>
      (await json('doctor')).checks.find((each: { sentence: string }) =>
        each.sentence.startsWith('to-be-forgotten'),
      )
    const check = await diagnose()
    assert.match(check.sentence, /nobody was listening to 2 of the last 2 messages/)
    assert.match(check.command, /farthing listen --name to-be-forgotten --missed$/)
    const listen = await listening(t, '"ready":true', '--json', ...name, '--missed')
    const { webhook_id } = JSON.parse(listen.stdout().split('\n')[0] ?? '')
    const missed = paid.filter(each => each.webhook_id === webhook_id)
    assert.equal(missed.length, 2)
    await untilSent(...missed.map(({ message_id }) => message_id))
    await listen.terminate()
    assert.match((await diagnose()).sentence, /the newest message was delivered\.$/)
    const forgotten = await farthing('listen', ...name, '--forget')
    assert.match(forgotten.stdout, /^"To be forgotten" is forgotten/)
    assert.equal((await farthing('listen', ...name, '--forget')).code, 1)
    const { messages } = await json('pay')
    assert.equal(messages.length, 2, 'only those to the listener of the other tests')
  })
})
