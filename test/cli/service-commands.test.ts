import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, describe, mock, test } from 'node:test'
import { trigger } from '../../src/cli/trigger.ts'
import { sendUnchecked } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { type ProcessOptions, runProcess, startCommand } from '../support/process.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { eventTypesOf } from '../support/subscriber.ts'

const KEY = 'key-of-the-command-line'
const SIGNING_KEY = 'signing-key-of-the-command-line'
const ESCAPE = '\u001b'
const ID = /[0-9a-v]{26}/.source

describe('The commands that speak to a service', () => {
  let service: Service
  let receiver: Receiver
  /** True once the receiver has failed for the reference FAILS-ONCE. */
  let failed = false
  before(async () => {
    receiver = await startReceiver({
      plain: true,
      // The receiver refuses every message of a failed payment, in words that try to steer the terminal.
      onRequest: ({ request, response }) => {
        const refuses = request.body.includes('card_payment_failed')
        const fails = request.body.includes('FAILS-ONCE') && !failed
        failed ||= fails
        response.statusCode = fails ? 500 : refuses ? 401 : 200
        response.end(refuses ? `bad${ESCAPE}[2Jsignature` : '')
      },
    })
    service = await startService('sqlite', {
      resolve: async () => ['127.0.0.1'],
      env: {
        FARTHING_API_KEY: KEY,
        FARTHING_WEBHOOK_URL: receiver.url,
        FARTHING_SIGNING_KEY: SIGNING_KEY,
      },
    })
  })
  after(async () => {
    await service.stop()
    await receiver.close()
  })

  async function farthing(line: string, options: ProcessOptions = {}) {
    for (const { recorder } of service.apps) await recorder?.flush()
    const env = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY: KEY, ...options.env }
    const args = line.split(' ')
    // A command that reads standard input gets this stream. The test of docs/cli.md pipes a body into a process.
    if (options.wrapper) return runProcess({ ...options, args, env })
    const stdin = mock.getter(process, 'stdin', () => Readable.from([options.input ?? '']))
    try {
      return await runHere({ args, env })
    } finally {
      stdin.mock.restore()
    }
  }
  const json = async (line: string, options?: ProcessOptions) => {
    const { stdout, stderr, code } = await farthing(`${line} --json`, options)
    assert.equal(stderr, '', line)
    const lines = stdout
      .trim()
      .split('\n')
      .map(each => JSON.parse(each))
    return { code, body: lines[0], lines }
  }

  test('farthing pay ends a payment as asked in each mode, also one of 0 pence, and lists the last deliveries to webhooks', async () => {
    for (const [line, says] of [
      [
        'pay --amount 250 --reference R-7',
        / {2}R-7 {2}£2\.50 {3}created › started › submitted › success {3}\d+ ms\n/,
      ],
      [
        'pay declined',
        /› failed P0010 .*\n {2}localhost:\d+ {3}card_payment_failed {3}401 Unauthorized \(2 attempts\) {3}farthing verify --ask [0-9a-v]{26}\n/,
      ],
      ['pay error', /› error P0050 /],
      ['pay --delayed-capture', /› capturable /],
      ['pay --refund 200 success', /› success › refunded £2\.00 /],
      ['pay --moto --capture --refund', /› capturable › success › refunded £14\.50 /],
      ['pay declined --moto', /› failed P0010 /],
      ['pay --amount 0', /£0\.00 {3}created › started › submitted › success /],
      ['pay --reference FAILS-ONCE', / {3}card_payment_[a-z]+ {3}200 OK \(2 attempts\)\n/],
    ] as const) {
      const { code, stdout, stderr } = await farthing(line)
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, line)
      assert.match(stdout, says)
      assert.match(stdout, new RegExp(`\\n  ${service.baseUrl}/console/payments/${ID}\\n$`))
      assert.ok(!stdout.includes(ESCAPE), 'a pipe gets no colours')
    }
  })

  test('farthing pay --json prints the payment and its messages, and --set sets fields', async () => {
    const { code, body } = await json(
      'pay cancel --set language=cy --set metadata.n=5 --set metadata.a=b=c --set metadata.v.1=true',
    )
    assert.equal(code, 0)
    const { payment, messages, console } = body
    assert.equal(payment.language, 'cy')
    assert.deepEqual(payment.metadata, { n: 5, a: 'b=c', 'v.1': true })
    assert.equal(payment.state.code, 'P0030')
    assert.deepEqual(eventTypesOf(messages), ['card_payment_failed'])
    assert.equal(console, `${service.baseUrl}/console/payments/${payment.payment_id}`)
    const details = 'prefilled_cardholder_details'
    const typed = await json(
      `pay --set amount=500 --set delayed_capture=true --set moto=true --set reference=7 --set ${details}.cardholder_name=A --set ${details}.billing_address.city=Leeds`,
    )
    const { amount, state, moto, reference, card_details } = typed.body.payment
    assert.deepEqual([amount, state.status, moto, reference], [500, 'capturable', true, '7'])
    assert.equal(card_details.billing_address.city, 'Leeds')
  })

  test('farthing trigger sends each event type', async () => {
    const types = trigger.argument?.values ?? []
    assert.ok(types.length >= 5)
    for (const type of types) {
      const { body } = await json(`trigger ${type}`)
      assert.ok(eventTypesOf(body.messages).includes(type), type)
    }
  })

  test('farthing logs shows requests with filters, as text and as JSON', async () => {
    await farthing('pay --reference LOGGED-1')
    const { stdout } = await farthing('logs')
    assert.match(
      stdout,
      new RegExp(
        `^[\\d:.]{12}  POST /v1/payments → 201  [\\d.]+ ms  ${ID}  LOGGED-1  by farthing$`,
        'm',
      ),
    )
    await sendUnchecked(`${service.baseUrl}/v1/refunds`, { key: KEY })
    assert.match((await farthing('logs')).stdout, /GET \/v1\/refunds → 200 {2}[\d.]+ ms$/m)
    await farthing('pay --set amount=no')
    const refused = await farthing('logs --refused --bodies --since 9999d')
    assert.match(
      refused.stdout,
      /POST \/v1\/payments → 400 P0102 .*\n {2}→ {"amount":"no",.*\n {2}← {"field":"amount"/,
    )
    assert.ok(!refused.stdout.includes('→ 201'))
    const env = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY: KEY }
    const followed = await startCommand({ args: ['logs', '--follow'], env }, 'LOGGED-1')
    assert.deepEqual(await followed.terminate(), { code: 0, signal: null })
    const { lines } = await json('logs --operation createPayment')
    for (const { operation, from_farthing } of lines)
      assert.deepEqual([operation, from_farthing], ['createPayment', true])
  })

  test('farthing resend and farthing verify explain why a message was refused', async () => {
    const { body } = await json('trigger card_payment_failed')
    const [{ message_id, raw, headers }] = body.messages
    const again = await farthing(`resend ${message_id} --times 2`)
    assert.equal(again.code, 1)
    assert.match(
      again.stdout,
      /^(401 Unauthorized {2}\d+ ms {2}bad \[2Jsignature\nThe receiver answered 401 .* compare the signatures\.\n){2}$/,
    )
    const edited = await json(`resend ${message_id} --body -`, { input: '{"edited":true}' })
    assert.equal(edited.code, 0)
    assert.equal(receiver.requests.at(-1)?.body, '{"edited":true}')
    assert.equal(edited.body.results[0].status, 'SUCCESSFUL')

    const { body: paid } = await json('pay')
    const accepted = await farthing(`resend ${paid.messages[0].message_id} --signing-key another`)
    assert.equal(accepted.code, 1)
    assert.match(
      accepted.stdout,
      /^200 OK .*\nYour receiver accepted a message whose signature is wr/,
    )
    const own = await farthing(`resend ${paid.messages[0].message_id} --signing-key ${SIGNING_KEY}`)
    assert.equal(own.code, 0)

    const signature = headers['Pay-Signature']
    const env = { SIGNING_KEY, FARTHING_URL: '', FARTHING_API_KEY: '' }
    const right = await json(`verify --signature ${signature}`, { env, input: raw })
    const sentence = 'It matches: these bytes, this key, this signature.'
    assert.deepEqual([right.code, right.body], [0, { matches: true, sentence }])
    const newline = await farthing(`verify --signature Pay-Signature:${signature}`, {
      env,
      input: `${raw}\n`,
      wrapper: [],
    })
    assert.equal(newline.code, 3)
    assert.match(
      newline.stdout,
      /^It does not match: the body given is the message with a newline at its end\.\n\nCheck .*\n {2}Express /,
    )
    const alone = await farthing(`verify --message ${message_id}`, { wrapper: [] })
    assert.deepEqual([alone.code, alone.stdout], [2, ''])
    assert.match(alone.stderr, /give what your receiver has, .* with --computed, .*standard input/)
    const computed = createHmac('sha256', SIGNING_KEY).update(raw).digest('base64')
    const named = await json(`verify --message ${message_id} --computed ${computed}`)
    assert.equal(named.code, 3)
    assert.match(named.body.sentence, /: what your code computed is the signature in base64\.$/)
    const wrong = await json(`verify --message ${message_id} --key-env OTHER`, {
      env: { OTHER: `${SIGNING_KEY}\n` },
    })
    assert.match(wrong.body.sentence, /the key given is the signing key with a newline at its end/)
  })

  test('farthing verify prints the name of a webhook without control characters', async t => {
    const { body } = await json('trigger card_payment_failed')
    const webhooks = `${service.baseUrl}/v1/webhooks`
    const wanted = { callback_url: receiver.url, description: `an${ESCAPE}[2Jother` }
    const made = await sendUnchecked(webhooks, { key: KEY, method: 'POST', json: wanted })
    const { external_id, signing_key } = made.body
    t.after(() => sendUnchecked(`${webhooks}/${external_id}`, { key: KEY, method: 'DELETE' }))
    const { code, stdout } = await farthing(`verify --message ${body.messages[0].message_id}`, {
      env: { SIGNING_KEY: signing_key },
    })
    assert.equal(code, 3)
    assert.match(stdout, /an \[2Jother/)
  })

  test('A request to this machine passes no proxy, and the error of another request names the proxy without its password', async () => {
    const env = { HTTP_PROXY: 'http://me:secret@127.0.0.1:2', NODE_USE_ENV_PROXY: '1' }
    const options = { env, wrapper: [] }
    assert.equal((await farthing('pay', options)).code, 0)
    const { code, stderr } = await farthing('pay --url http://farthing.example', options)
    assert.equal(code, 4)
    assert.match(
      stderr,
      /cannot be reached through the proxy http:\/\/127\.0\.0\.1:2 \(ECONNREFUSED\)/,
    )
  })

  test('A failure has its exit code, one line on standard error and nothing on standard output', async () => {
    const away = { FARTHING_URL: 'http://127.0.0.1:2' }
    const refused = /POST \/v1\/payments was refused with 400 P0102 amount: amount must/
    const unknown = { FARTHING_API_KEY: 'x'.repeat(16) }
    const table: [line: string, code: number, says: RegExp, env?: Record<string, string>][] = [
      ['pay --set amount=x', 1, refused],
      ['pay --agreement nosuchagreement', 1, /was refused with 422 P0102 agreement_id/],
      ['resend nosuchmessage', 1, /was refused with 404 C0200: there is no such message/],
      ['verify --message nosuchmessage --computed 0', 1, /there is no message nosuchmessage/],
      ['pay', 2, /there is no API key/, { FARTHING_API_KEY: '' }],
      ['pay', 4, /refuses the key: this API key is not known here/, unknown],
      ['pay', 4, /cannot be reached \(ECONNREFUSED\)/, away],
      ['listen --json', 4, /cannot be reached \(ECONNREFUSED\)/, away],
      ['ready', 4, /cannot be reached \(ECONNREFUSED\)/, away],
      ['pay', 4, /Start it with PORT=2 farthing, or name another/, away],
      ['pay --url http://no-such.invalid', 4, /Start it there, or name another/],
      ['pay', 1, /FARTHING_URL must be an http or https address/, { FARTHING_URL: 'nonsense' }],
    ]
    for (const [line, expected, says, env = {}] of table) {
      const { code, stdout, stderr } = await farthing(line, { env })
      assert.equal(code, expected, `${line}: ${stderr}`)
      assert.equal(stdout, '', line)
      assert.match(stderr, new RegExp(`^farthing: .*${says.source}`), line)
      assert.ok(!stderr.includes(KEY), 'a message never has the key')
    }
    const given = await farthing('pay --key -', {
      env: { FARTHING_API_KEY: '' },
      input: `${KEY}\n`,
      wrapper: [],
    })
    assert.equal(given.code, 0, given.stderr)
  })

  if (spawnSync('python3', ['--version']).status === 0)
    test('A terminal gets colours, unless NO_COLOR is set', async () => {
      const script = `import os,pty,sys
for time in range(2):
  if pty.spawn(sys.argv[1:]): sys.exit(1)
  os.environ['NO_COLOR'] = '1'`
      const { code, stdout } = await farthing('pay declined', {
        env: { TERM: 'xterm' },
        wrapper: ['python3', '-c', script],
      })
      assert.equal(code, 0)
      const paid = stdout.split('\n').filter(line => line.includes('failed P0010'))
      const coloured = paid.map(line => line.includes(`${ESCAPE}[31m`))
      assert.deepEqual(coloured, [true, false], stdout)
    })
})
