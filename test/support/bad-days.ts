/** Faults around the tests of an example. The tests must fail, say why, and leave no process and no account. */
import assert from 'node:assert/strict'
import { sendUnchecked } from './client.ts'
import { changedCopyOf, copyOf, type Language, run } from './languages.ts'
import { freePort } from './ports.ts'
import { programOf } from './process.ts'
import { type Service, startService } from './service.ts'

export const RECEIVES = { FARTHING_CALLBACK_HOSTS: '127.0.0.1' }

/** The variables that name a running Farthing, with a key of a new account. */
export async function settingsOf({ baseUrl, newAccount }: Service) {
  const { key = '' } = await newAccount()
  return { FARTHING_URL: baseUrl, FARTHING_API_KEY: key }
}
type Settings = Awaited<ReturnType<typeof settingsOf>>

/** Runs a language's tests, which must fail, end by themselves, leave no process, and say `sentence`. */
async function failsWith(
  language: Language,
  sentence: string,
  env: Record<string, string>,
  copy: string | Promise<string> = copyOf(language),
): Promise<void> {
  const { code, output, processesAreLeft } = await run(language.tests, await copy, env)
  assert.ok(typeof code === 'number' && code > 0, `code ${code}: ${output}`)
  assert.ok(output.replaceAll('\\"', '"').includes(sentence), `${sentence}\nis not in\n${output}`)
  assert.equal(processesAreLeft, false)
}

async function descriptionOf(settings: Settings, path: string, body: object): Promise<string> {
  const { FARTHING_URL, FARTHING_API_KEY: key } = settings
  const refused = await sendUnchecked(FARTHING_URL + path, { key, method: 'POST', json: body })
  assert.ok(refused.status >= 400)
  return refused.body.description
}

async function leavesNoAccount({ FARTHING_URL, FARTHING_API_KEY: key }: Settings): Promise<void> {
  const { body } = await sendUnchecked(`${FARTHING_URL}/control/accounts`, { key })
  assert.deepEqual(body.results, [])
}

type BadDay = (language: Language) => Promise<void>

/** The faults of every run of the tests: a start that fails at once, and a request that fails in a test. */
export const badDays = {
  async 'no program'(language) {
    const env = { FARTHING: '/nowhere/farthing' }
    await failsWith(language, 'bin/farthing.js in a clone after npm ci', env)
  },

  async 'a Farthing without FARTHING_CALLBACK_HOSTS'(language) {
    await withService({ control: true }, async settings => {
      const webhook = { callback_url: 'http://127.0.0.1:4000/' }
      const text = await descriptionOf(settings, '/v1/webhooks', webhook)
      // The end of the sentence has the port of the receiver.
      const [sentence = ''] = text.split(':4000')
      assert.match(sentence, /FARTHING_CALLBACK_HOSTS/)
      await failsWith(language, sentence, settings)
      await leavesNoAccount(settings)
    })
  },
} satisfies Record<string, BadDay>

/** The other faults, in the long job `languages`. */
export const moreBadDays = {
  async 'no Farthing at the address'(language) {
    const port = await freePort()
    const settings = { FARTHING_URL: `http://127.0.0.1:${port}`, FARTHING_API_KEY: 'a-key' }
    await failsWith(language, String(port), settings)
  },

  'a program that ends at once, and says why': language =>
    failsWith(language, 'PORT is in use', {
      FARTHING: programOf({ line: 'echo "PORT is in use" >&2; exit 1' }),
    }),

  'a program that never says that it listens': language =>
    failsWith(language, 'did not start', { FARTHING: programOf({ line: 'exec sleep 600' }) }),

  async 'a wrong key'(language) {
    await withService({ control: true, env: RECEIVES }, async own => {
      const settings = { ...own, FARTHING_API_KEY: 'no-key-of-this-one' }
      const text = await descriptionOf(settings, '/control/accounts', {})
      await failsWith(language, text, settings)
    })
  },

  async 'a Farthing without FARTHING_CONTROL'(language) {
    await withService({ env: RECEIVES }, settings =>
      failsWith(language, 'FARTHING_CONTROL=true switches it on', settings),
    )
  },

  async 'an assertion that fails in the middle'(language) {
    const sabotage = (text: string) => text.replace(/(["'])P0603\1/, '$1sabotaged$1')
    const changed = await changedCopyOf(language, sabotage)
    await withService({ control: true, env: RECEIVES }, async settings => {
      await failsWith(language, 'sabotaged', settings, changed)
      await leavesNoAccount(settings)
    })
    await failsWith(language, 'sabotaged', { FARTHING: programOf() }, changed)
  },
} satisfies Record<string, BadDay>

async function withService(
  options: Parameters<typeof startService>[1],
  use: (settings: Settings) => Promise<void>,
): Promise<void> {
  const service = await startService('sqlite', options)
  try {
    await use(await settingsOf(service))
  } finally {
    await service.stop()
  }
}
