import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { badDays, RECEIVES, settingsOf } from '../support/bad-days.ts'
import { checkAccountsOf } from '../support/checked-accounts.ts'
import { copyOf, isMissing, languages, programOf, run } from '../support/languages.ts'
import { type Service, startService } from '../support/service.ts'

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

      test(`${name}: the tests pass with the program that they start, and end it`, async () => {
        const env = { FARTHING: programOf() }
        const { code, output, processesAreLeft } = await run(
          language.tests,
          await copyOf(language),
          env,
        )
        assert.equal(code, 0, output)
        assert.equal(processesAreLeft, false)
      })

      for (const [day, happens] of Object.entries(badDays))
        test(`${name}: ${day}`, () => happens(language))
    })
  }
})
