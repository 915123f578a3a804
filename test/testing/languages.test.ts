import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { checkAccountsOf } from '../support/checked-accounts.ts'
import type { Body } from '../support/client.ts'
import {
  copyOf,
  isMissing,
  type Language,
  languages,
  programOf,
  run,
} from '../support/languages.ts'
import { freePort } from '../support/ports.ts'
import { type Service, startService } from '../support/service.ts'

const RECEIVES = { FARTHING_CALLBACK_HOSTS: '127.0.0.1' }

/** Runs a language's tests, which must fail, end by themselves, leave no process, and say `sentence`. */
async function failsWith(
  language: Language,
  sentence: string,
  env: Record<string, string>,
  cwd = copyOf(language),
): Promise<void> {
  const { code, output, processesAreLeft } = await run(language.tests, cwd, env)
  assert.ok(typeof code === 'number' && code > 0, `code ${code}: ${output}`)
  const printed = output.replaceAll('\\"', '"')
  assert.ok(printed.includes(sentence), `${sentence}\nis not in\n${output}`)
  assert.equal(processesAreLeft, false)
}

describe('Examples in other languages', () => {
  let service: Service
  let withoutControl: Service
  let withoutReceivers: Service
  before(async () => {
    service = await startService('sqlite', { control: true, env: RECEIVES })
    withoutControl = await startService('sqlite', { env: RECEIVES })
    withoutReceivers = await startService('sqlite', { control: true })
  })
  after(() => Promise.all([service, withoutControl, withoutReceivers].map(each => each.stop())))

  /** The variables that name a running Farthing, with a key of a new account. */
  async function settingsOf({ baseUrl, newAccount }: Service) {
    const { key = '' } = await newAccount()
    return { FARTHING_URL: baseUrl, FARTHING_API_KEY: key }
  }
  /** The text of the error in the response. */
  async function descriptionOf(url: string, key: string, path: string, body: object) {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    assert.ok(response.status >= 400)
    const { description }: Body = await response.json()
    return description
  }
  async function leavesNoAccount({ FARTHING_URL, FARTHING_API_KEY }: Record<string, string>) {
    const headers = { Authorization: `Bearer ${FARTHING_API_KEY}` }
    const response = await fetch(`${FARTHING_URL}/control/accounts`, { headers })
    const { results }: Body = await response.json()
    assert.deepEqual(results, [])
  }

  for (const language of languages) {
    const { folder, name } = language

    describe(`examples/${folder}`, { concurrency: 2, skip: isMissing(language) }, () => {
      test(`${name}: the tests pass with a Farthing that runs, and would work in production`, async t => {
        const { FARTHING_API_KEY } = await settingsOf(service)
        const accounts = await checkAccountsOf(service.baseUrl)
        t.after(() => accounts.close())
        const env = { FARTHING_URL: accounts.url, FARTHING_API_KEY }
        const { code, output } = await run(language.tests, copyOf(language), env)
        assert.equal(code, 0, output)
        assert.equal(accounts.ended, 4)
        assert.deepEqual(accounts.broken, [])
      })

      test(`${name}: the tests pass with the program that they start, and end it`, async () => {
        const env = { FARTHING: programOf() }
        const { code, output, processesAreLeft } = await run(language.tests, copyOf(language), env)
        assert.equal(code, 0, output)
        assert.equal(processesAreLeft, false)
      })

      test(`${name}: no Farthing at the address`, async () => {
        const port = await freePort()
        const settings = { FARTHING_URL: `http://127.0.0.1:${port}`, FARTHING_API_KEY: 'a-key' }
        await failsWith(language, String(port), settings)
      })

      test(`${name}: no program`, () =>
        failsWith(language, '/nowhere/farthing', { FARTHING: '/nowhere/farthing' }))

      test(`${name}: a program that ends at once, and says why`, () =>
        failsWith(language, 'PORT is in use', {
          FARTHING: programOf('echo "PORT is in use" >&2; exit 1'),
        }))

      test(`${name}: a program that never says that it listens`, () =>
        failsWith(language, 'did not start', { FARTHING: programOf('exec sleep 600') }))

      test(`${name}: a wrong key`, async () => {
        const settings = { ...(await settingsOf(service)), FARTHING_API_KEY: 'no-key-of-this-one' }
        const { FARTHING_URL, FARTHING_API_KEY } = settings
        const text = await descriptionOf(FARTHING_URL, FARTHING_API_KEY, '/control/accounts', {})
        await failsWith(language, text, settings)
      })

      test(`${name}: a Farthing without FARTHING_CONTROL`, async () => {
        const settings = await settingsOf(withoutControl)
        await failsWith(language, 'FARTHING_CONTROL=true switches it on', settings)
      })

      test(`${name}: a Farthing without FARTHING_CALLBACK_HOSTS`, async () => {
        const settings = await settingsOf(withoutReceivers)
        const { FARTHING_URL, FARTHING_API_KEY } = settings
        const webhook = { callback_url: 'http://127.0.0.1:4000/' }
        const text = await descriptionOf(FARTHING_URL, FARTHING_API_KEY, '/v1/webhooks', webhook)
        // The end of the sentence has the port of the receiver.
        const [sentence = ''] = text.split(':4000')
        assert.match(sentence, /FARTHING_CALLBACK_HOSTS/)
        await failsWith(language, sentence, settings)
        await leavesNoAccount(settings)
      })

      test(`${name}: an assertion that fails in the middle`, async () => {
        const changed = copyOf(language, text => text.replace(/(["'])submitted\1/, '$1sabotaged$1'))
        const settings = await settingsOf(service)
        await failsWith(language, 'sabotaged', settings, changed)
        await leavesNoAccount(settings)
        await failsWith(language, 'sabotaged', { FARTHING: programOf() }, changed)
      })
    })
  }
})
