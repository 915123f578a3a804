import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createClient } from './support/client.ts'
import { tempFolder } from './support/folders.ts'
import { payOnPages } from './support/journeys.ts'
import { packOnce } from './support/packed.ts'
import { startReceiver } from './support/receiver.ts'

const run = promisify(execFile)
const KEY = 'a-key-for-the-executable'
const SIGNING_KEY = 'a-signing-key-for-the-executable'

describe('The single executable', () => {
  const empty = join(tempFolder(), 'empty')
  let source = ''
  let program = ''
  let url = ''
  let stop = async (): Promise<unknown[]> => []

  /** Runs a command with this environment alone: there is no PATH, and so no Node. */
  const farthing = (args: string[], env: Record<string, string> = {}) =>
    run(program, args, { cwd: empty, env })
  const ask = (...args: string[]) =>
    farthing(args, { FARTHING_URL: url, FARTHING_API_KEY: KEY }).then(({ stdout }) => stdout)

  before(async () => {
    mkdirSync(empty)
    source = (await packOnce()).source
    // The package was built with the build that this script would run first.
    await run(process.execPath, ['scripts/build-executable.ts', '--built'], { cwd: source })
    program = join(source, 'release/farthing')
  })
  after(() => stop())

  test('tells its version in an empty folder, without an environment', async () => {
    const { stdout } = await farthing(['--version'])
    const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
    assert.equal(stdout.trim(), version)
  })

  test('makes a payment, keeps it in a file, and signs the message to a webhook', async t => {
    const receiver = await startReceiver({ plain: true })
    t.after(() => receiver.close())
    const service = spawn(program, [], {
      cwd: empty,
      env: {
        PORT: '0',
        FARTHING_API_KEY: KEY,
        FARTHING_CONTROL: 'true',
        FARTHING_WEBHOOK_URL: receiver.url,
        FARTHING_SIGNING_KEY: SIGNING_KEY,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    stop = () => {
      service.kill('SIGTERM')
      return once(service, 'exit')
    }
    const [line] = await once(createInterface(service.stdout), 'line')
    url = /http:\/\/\S+/.exec(String(line))?.[0] ?? ''
    const api = createClient([url], KEY)
    const payment = await api.createPayment()
    await payOnPages(api, payment)
    const [message] = await receiver.next()
    const signature = createHmac('sha256', SIGNING_KEY).update(message?.body ?? '')
    assert.equal(message?.headers['pay-signature'], signature.digest('hex'))
    assert.equal(JSON.parse(message?.body ?? '').resource_id, payment.payment_id)
    assert.ok(existsSync(join(empty, 'data/farthing.db')))
  })

  test('has the documentation and the files of the pages', async () => {
    const page = await (await fetch(`${url}/docs`)).text()
    const assets = page.match(/\/assets\/[\w.-]+/g) ?? []
    assert.ok(assets.length >= 3, page)
    for (const asset of new Set(assets)) {
      const { status } = await fetch(url + asset)
      assert.equal(status, 200, asset)
    }
    const description = await (await fetch(`${url}/openapi.json`)).text()
    assert.ok(JSON.parse(description).paths['/v1/payments'])
  })

  test('has the commands that speak to a service, those that open the database, and the completion', async () => {
    for (const [line, says] of [
      ['pay success', /› success /],
      ['logs', /POST/],
      ['keys create --account another', /^\S{16,}\n$/],
      ['backup copy.db', /copy\.db/],
      ['complete -- se', /^serve\t/],
    ] as const)
      assert.match(await ask(...line.split(' ')), says)
    assert.ok(existsSync(join(empty, 'copy.db')))
  })

  test('stops when it is told to', async () => {
    assert.deepEqual(await stop(), [0, null])
    stop = async () => []
  })
})
