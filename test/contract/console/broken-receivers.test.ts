import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { classed } from '../../hosted/document.ts'
import { enter } from '../../support/console.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { type Service, startService } from '../../support/service.ts'
import { answering, receiving, subscribe } from '../../support/subscriber.ts'

/** What a browser finds that follows the first failure in the list of payments. messages.test.ts has what refuses a signature. */
const faults: Record<string, [behaviour: Behaviour, sentence: RegExp]> = {
  'nothing listens': [{ refuses: true }, /ECONNREFUSED.*is the receiver running/],
  'the name has no address': [{}, /host name of the callback URL has no address/],
  'the certificate has expired': [
    { certificate: 'expired' },
    /certificate of the receiver was not accepted \(CERT_HAS_EXPIRED\): it has expired/,
  ],
  'it hangs': [{ onRequest: () => {}, hangs: true }, /did not answer within 2 seconds/],
  'it redirects': [{ onRequest: answering(301) }, /3xx counts as failed: register the address/],
  'the path is wrong': [{ onRequest: answering(404) }, /Is the path of the callback URL right/],
  'it fails with a stack': [
    { onRequest: ({ response }) => response.writeHead(500).end('TypeError: x is null\n    at y') },
    /500 Internal Server Error: TypeError: x is null\. The receiver has a fault/,
  ],
}

describe('A broken receiver', () => {
  let service: Service
  let known = true
  before(async () => {
    const resolve = async () => (known ? ['127.0.0.1'] : [])
    service = await startService('sqlite', { ...receiving, resolve })
  })
  after(() => service.stop())

  for (const [name, [behaviour, sentence]] of Object.entries(faults))
    test(`is explained on the page behind the first failure in the list of payments: ${name}`, async t => {
      const { api, browser } = await enter(service)
      await subscribe(t, api, { behaviour })
      known = name !== 'the name has no address'
      await cancelledPayment(api)
      known = true
      const { elements } = await browser.get('payments')
      const red = elements.find(classed('farthing-failed'))
      assert.match((await browser.get(red?.attributes.href ?? '')).text, sentence)
    })
})
