import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Client } from '../../support/client.ts'
import { type Console, type Shown, signIn } from '../../support/console.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'
import { answering, receiving, type Subscriber, subscribe } from '../../support/subscriber.ts'

/** "Why did this webhook fail?", for ten faults, by a browser that follows links from the list of payments. */

type Fault = {
  behaviour?: Behaviour
  subscriptions?: string[]
  /** Runs before there is a payment. */
  prepare?: (api: Client, subscriber: Subscriber) => Promise<unknown>
  sentence: RegExp
}

const faults: Record<string, Fault> = {
  'nothing listens': {
    behaviour: { refuses: true },
    sentence: /ECONNREFUSED.*is the receiver running/,
  },
  'the name has no address': { sentence: /host name of the callback URL has no address/ },
  'the certificate has expired': {
    behaviour: { certificate: 'expired' },
    sentence: /certificate of the receiver was not accepted \(CERT_HAS_EXPIRED\): it has expired/,
  },
  'it hangs': {
    behaviour: { onRequest: () => {}, hangs: true },
    sentence: /did not answer within 2 seconds/,
  },
  'it redirects': {
    behaviour: { onRequest: answering(301) },
    sentence: /3xx counts as failed: register the address/,
  },
  'the path is wrong': {
    behaviour: { onRequest: answering(404) },
    sentence: /Is the path of the callback URL right/,
  },
  'it refuses the signature': {
    behaviour: { onRequest: answering(401) },
    sentence: /Most often the signature does not match there: compare the signatures/,
  },
  'it fails with a stack': {
    behaviour: {
      onRequest: ({ response }) => response.writeHead(500).end('TypeError: x is null\n    at y\n'),
    },
    sentence: /500 Internal Server Error: TypeError: x is null\. The receiver has a fault/,
  },
  'it is not subscribed': {
    subscriptions: ['card_payment_captured'],
    sentence: /no message to \S+: not subscribed to card_payment_cancelled/,
  },
  'its webhook is deactivated': {
    prepare: (api, { webhook }) => api.delete(`/v1/webhooks/${webhook.external_id}`),
    sentence: /no message to \S+: deactivated/,
  },
}

describe('A broken receiver', () => {
  let service: Service
  let known = true
  before(async () => {
    service = await startService('sqlite', {
      ...receiving,
      resolve: async () => (known ? ['127.0.0.1'] : []),
    })
  })
  after(() => service.stop())

  for (const [name, { behaviour, subscriptions, prepare, sentence }] of Object.entries(faults))
    test(`is explained on the page behind the first failure in the list of payments: ${name}`, async t => {
      const api = await service.newAccount()
      const subscriber = await subscribe(t, api, {
        ...(behaviour && { behaviour }),
        ...(subscriptions && { subscriptions }),
      })
      await prepare?.(api, subscriber)
      known = name !== 'the name has no address'
      await cancelledPayment(api)
      known = true
      const browser = await signIn(service, api)
      assert.match((await firstFailure(browser)).text, sentence)
    })
})

/** The page behind the first failure in the list of payments, or without one behind the first payment. */
async function firstFailure(browser: Console): Promise<Shown> {
  const { elements } = await browser.get('payments')
  const red = elements.find(({ attributes }) => attributes.class?.includes('farthing-failed'))
  const payment = elements.find(({ attributes }) =>
    /^payments\/[0-9a-v]{26}$/.test(attributes.href ?? ''),
  )
  return browser.get((red ?? payment)?.attributes.href ?? '')
}
