import assert from 'node:assert/strict'
import { test } from 'node:test'
import fixture from '../../fixtures/callback-urls.json' with { type: 'json' }
import { assertError } from '../../support/assertions.ts'
import { callbackUrlCases, createCaseResolve } from '../../support/callback-urls.ts'
import type { Answer, Client } from '../../support/client.ts'
import { onEveryDatabase } from '../../support/service.ts'

const FIELD = { field: 'callback_url' }
const ADDRESSES = Object.values(fixture.resolver)
  .flat(2)
  .filter(each => typeof each === 'string')

const register = (api: Client, callback_url: unknown): Promise<Answer> =>
  api.post('/v1/webhooks', { callback_url })

/** The error names the rule and leaves out the addresses found and the host asked for. */
function assertRuleNamed(answer: Answer, url: unknown): void {
  assertError(answer, 422, 'P0102', FIELD)
  const { description } = answer.body
  assert.match(description, /^callback_url must/)
  for (const address of ADDRESSES) assert.ok(!description.includes(address), description)
  const host = typeof url === 'string' ? URL.parse(url)?.hostname : undefined
  if (host && /\d/.test(host)) assert.ok(!description.includes(host), description)
}

onEveryDatabase(
  'Webhooks: callback_url',
  service => {
    for (const { url, expect, why } of callbackUrlCases)
      test(`POST /v1/webhooks ${expect}s the callback_url ${JSON.stringify(url).slice(0, 90)}: ${why}`, async () => {
        const answer = await register(await service().newAccount(), url)
        if (expect === 'accept') assert.equal(answer.status, 201, answer.text)
        else if (url.trim() === '') assertError(answer, 422, 'P0101', FIELD)
        else assertRuleNamed(answer, url)
      })

    test('POST /v1/webhooks refuses a callback_url that is not a string', async () => {
      const api = await service().newAccount()
      const values = fixture.cases.map(({ url }) => url).filter(url => typeof url !== 'string')
      assert.ok(values.length > 0)
      for (const url of values) {
        const answer = await register(api, url)
        assertError(answer, 422, url === null ? 'P0101' : 'P0102', FIELD)
      }
    })

    test('POST /v1/webhooks returns the same error for every host that leads to a refused address', async () => {
      const api = await service().newAccount()
      const names = ['loop', 'loop6', 'private', 'meta', 'mixed', 'mapped', 'nat64', 'ula', 'azure']
      const answers = await Promise.all(
        names.map(name => register(api, `https://${name}.example.com/`)),
      )
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
      assert.equal(answers[0]?.status, 422)
    })
  },
  { resolve: host => createCaseResolve()(host) },
)

onEveryDatabase(
  'Webhooks: FARTHING_CALLBACK_HOSTS',
  service => {
    const accepted = [
      'http://localhost/',
      'https://localhost:8443/x',
      'HTTP://LOCALHOST:4000/webhooks?x=1',
      'http://receiver.internal:8080/',
      'https://receiver.internal:8080/',
      'http://private.example.com/',
      'http://10.1.2.3:81/',
      'http://[::1]:82/',
      'http://2130706433:83/',
    ]
    for (const url of accepted)
      test(`FARTHING_CALLBACK_HOSTS allows ${url}`, async () => {
        const { status, text } = await register(await service().newAccount(), url)
        assert.equal(status, 201, text)
      })

    const refused = [
      'http://localhost.example.com/',
      'http://sub.localhost/',
      'https://receiver.internal/',
      'https://receiver.internal:8081/',
      'http://10.1.2.3/',
      'https://10.1.2.4:81/',
      'http://[::1]/',
      'https://loop.example.com/',
      'http://hooks.example.com/',
      'http://user@localhost/',
      'http://localhost:0/',
      'http:localhost/',
      'http://local\thost/',
      'http://localhost\\@hooks.example.com/',
      'ftp://localhost/',
    ]
    for (const url of refused)
      test(`FARTHING_CALLBACK_HOSTS does not allow ${JSON.stringify(url)}`, async () => {
        const answer = await register(await service().newAccount(), url)
        assertError(answer, 422, 'P0102', FIELD)
      })

    test('FARTHING_CALLBACK_HOSTS changes nothing for hosts that it does not list', async () => {
      const api = await service().newAccount()
      assert.equal((await register(api, 'https://hooks.example.com/')).status, 201)
    })
  },
  {
    resolve: host => createCaseResolve()(host),
    env: {
      FARTHING_CALLBACK_HOSTS:
        'localhost, receiver.internal:8080,private.example.com,10.1.2.3:81,[::1]:82,127.0.0.1:83',
    },
  },
)
