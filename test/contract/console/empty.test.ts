import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pages } from '../../../src/tools/console/pages.ts'
import { tagged } from '../../hosted/document.ts'
import { createAgreement } from '../../support/agreements.ts'
import { enter, type Shown, textOf } from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { receiving, subscribe } from '../../support/subscriber.ts'

const sentencesIn = ({ elements }: Shown): string[] =>
  (elements.find(tagged('main'))?.inside ?? []).filter(tagged('p')).map(textOf)

onEveryDatabase('Empty states of the console', { ...receiving, control: true }, service => {
  const NEW = 'webhooks/new'
  const empty: [path: string, sentence: RegExp, link?: string][] = [
    ['payments', /^There are no payments in the last 7 days: make one\.$/, 'payments/new'],
    [
      'requests',
      /^No request of the last 24 hours is recorded: send one to http\S+ with the key of this account\.$/,
    ],
    ['deliveries', /^There are no messages, because no webhook is registered: register one.$/, NEW],
    ['webhooks', /^There is no active webhook, so no messages are sent: register one\.$/, NEW],
    ['agreements', /^There are no agreements: make one\.$/, 'agreements/new'],
    ['accounts', /^Nothing is planned: choose below what the next request does\.$/],
    ['accounts', /^There are no test accounts: make one below\.$/],
    ['check', /^Nothing is kept of the last 24 hours: let your service make some requests\.$/],
  ]

  test('under govuk-pay the list of payments has those of 180 days', async () => {
    const { browser } = await enter(service(), 'govuk-pay')
    const sentences = sentencesIn(await browser.get('payments'))
    assert.ok(sentences.includes('There are no payments in the last 180 days: make one.'))
  })

  test('an empty list is one sentence with the one thing to do, and without it where the account has ended', async () => {
    const { api, browser } = await enter(service())
    const name = `ended-${service().clock.now()}`
    await browser.post('accounts/make-account', { name })
    await ask(service(), api, `accounts/${name}`, undefined, 'DELETE')
    const lists = pages.filter(({ path, isList }) => isList && !path.includes('{'))
    const shown = new Set(empty.map(([path]) => path))
    const missing = lists.filter(({ path }) => !shown.has(path))
    assert.deepEqual(missing, [])
    const { browser: other } = await enter(service())
    for (const [path, sentence, link] of empty) {
      const page = await other.get(path)
      const found = sentencesIn(page).filter(each => sentence.test(each))
      assert.equal(found.length, 1, `${path}: ${sentencesIn(page)}`)
      assert.ok(!page.elements.some(tagged('pre')), path)
      const links = page.elements.map(({ attributes }) => attributes.href)
      assert.ok(!link || links.includes(link), path)
      if (path === 'accounts') continue
      const beginning = /^\^([^:]+)/.exec(sentence.source)?.[1] ?? ''
      const ended = sentencesIn(await browser.get(`a/${name}/${path}`))
      assert.ok(ended.includes(`${beginning}.`), `${path}: ${ended}`)
    }
  })

  test('a webhook without messages and an agreement without payments say what brings the first', async t => {
    const { api, browser } = await enter(service())
    const { webhook } = await subscribe(t, api)
    const { agreement_id } = await createAgreement(api)
    const agreement = `agreements/${agreement_id}`
    for (const [path, sentence] of [
      [`webhooks/${webhook.external_id}`, 'It got no message yet: send a test message above.'],
      ['deliveries', 'There are no messages yet: make a payment.'],
      [agreement, 'No payment of the last 7 days was made with it: set it up above.'],
    ] as const)
      assert.ok(sentencesIn(await browser.get(path)).includes(sentence), path)
  })
})
