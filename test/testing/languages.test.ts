import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { badDays, RECEIVES, settingsOf } from '../support/bad-days.ts'
import { checkAccountsOf } from '../support/checked-accounts.ts'
import { tempFolder } from '../support/folders.ts'
import { copyOf, EXAMPLES, isMissing, languages, run } from '../support/languages.ts'
import { programOf, startProcess } from '../support/process.ts'
import { type Service, startService } from '../support/service.ts'
import { buyFromShop } from '../support/shop.ts'

test('what starts Farthing registers the receiver where accounts of both behaviours can', () => {
  for (const { folder } of languages) {
    const texts = readdirSync(join(EXAMPLES, folder), { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(py|rb|java|php|go|cs)$/.test(name))
      .map(name => readFileSync(join(EXAMPLES, folder, name), 'utf8'))
    const asked = texts.flatMap(text => text.match(/(?<=["'])\/\w+\/webhooks(?=["'])/g) ?? [])
    assert.deepEqual([...new Set(asked)], ['/control/webhooks'], folder)
  }
})

describe('Examples in other languages', () => {
  let service: Service
  before(async () => {
    service = await startService('sqlite', { control: true, env: RECEIVES })
  })
  after(() => service.stop())

  for (const language of languages) {
    const { folder, name } = language

    describe(`examples/${folder}`, { concurrency: 2, skip: isMissing(language) }, () => {
      test(`${name}: the tests pass with a Farthing that runs, and would work in production`, async t => {
        const { FARTHING_API_KEY } = await settingsOf(service)
        const accounts = await checkAccountsOf(service.baseUrl)
        t.after(() => accounts.close())
        const env = { FARTHING_URL: accounts.url, FARTHING_API_KEY }
        const { code, output } = await run(language.tests, await copyOf(language), env)
        assert.equal(code, 0, output)
        assert.equal(accounts.ended, 6)
        assert.deepEqual(accounts.broken, [])
      })

      test(`${name}: the tests pass with the program that they start, and end it; its settings let a shop on any port work`, async () => {
        const settings = join(tempFolder(), 'settings.json')
        const env = { FARTHING: programOf({ settings }) }
        const ran = await run(language.tests, await copyOf(language), env)
        assert.equal(ran.code, 0, ran.output)
        assert.equal(ran.processesAreLeft, false)
        const own = JSON.parse(readFileSync(settings, 'utf8'))
        const program = await startProcess({ env: own })
        try {
          const key: string = own.FARTHING_API_KEY
          for (const host of ['localhost', '127.0.0.1'])
            assert.deepEqual(await buyFromShop({ url: program.baseUrl, key }, host), {
              page: '/back success',
              messages: ['card_payment_captured', 'card_payment_succeeded'],
            })
        } finally {
          await program.terminate()
        }
      })

      for (const [day, happens] of Object.entries(badDays))
        test(`${name}: ${day}`, () => happens(language))
    })
  }
})
