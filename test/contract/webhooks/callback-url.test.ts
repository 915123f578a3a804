import assert from 'node:assert/strict'
import { test } from 'node:test'
import fixture from '../../fixtures/callback-urls.json' with { type: 'json' }
import { assertError } from '../../support/assertions.ts'
import { callbackUrlCases, createCaseResolve } from '../../support/callback-urls.ts'
import type { Answer, Client } from '../../support/client.ts'
import { onOneDatabase } from '../../support/service.ts'

const ADDRESSES = Object.values(fixture.resolver)
  .flat(2)
  .filter(each => typeof each === 'string')

const register = (api: Client, callback_url: string): Promise<Answer> =>
  api.post('/v1/webhooks', { callback_url })

/** The error names the rule, and no address that was found. The host is only in the setting that would allow it. */
function assertRuleNamed(answer: Answer, url: string): void {
  assertError(answer, 422, 'P0102', { field: 'callback_url' })
  const [description = ''] = answer.body.description.split(': FARTHING_CALLBACK_HOSTS=')
  assert.match(description, /^callback_url must/)
  for (const address of ADDRESSES) assert.ok(!description.includes(address), description)
  const host = URL.parse(url)?.hostname
  if (host && /\d/.test(host)) assert.ok(!description.includes(host), description)
}

// test/webhooks/address.test.ts tests FARTHING_CALLBACK_HOSTS, and registration.test.ts values that are no text.
onOneDatabase('Webhooks: callback_url', { resolve: host => createCaseResolve()(host) }, service => {
  test('POST /v1/webhooks accepts and refuses the callback_url of each case of the fixture', async () => {
    const api = await service().newAccount()
    for (const { url, expect, why } of callbackUrlCases) {
      const answer = await register(api, url)
      assert.equal(answer.status, expect === 'accept' ? 201 : 422, `${url}: ${why}`)
      if (expect === 'reject') assertRuleNamed(answer, url)
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
})
