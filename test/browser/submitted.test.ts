import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { shareBrowser, visitInOneWindow } from '../support/browser.ts'
import type { Client } from '../support/client.ts'
import { ask } from '../support/control.ts'
import { pageOf } from '../support/hosted-page.ts'
import { read } from '../support/journeys.ts'
import { choose, paymentIn } from '../support/page-states.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let api: Client
let site: Receiver
const inWindow = visitInOneWindow(shareBrowser())

before(async () => {
  service = await startService('sqlite', { control: true })
  api = await service.newAccount()
  site = await startReceiver({
    onRequest: ({ response }) =>
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Back</title>'),
  })
})
after(async () => {
  await site?.close()
  await service?.stop()
})

for (const scenario of [undefined, 'declined'])
  test(`The user is back at the service while the payment is still submitted, with ${scenario ?? 'no'} scenario planned`, () =>
    inWindow(async ({ page, complaints }) => {
      const plan = { hold: true, ...(scenario && { scenario }) }
      assert.equal((await ask(service, api, 'plans', plan)).status, 201)
      const return_url = `https://receiver.test:${site.port}/paid`
      const payment = await paymentIn(api, 'en', { return_url })
      await page.goto(pageOf(payment))
      if (!scenario) {
        await choose(page, 'success')
        await page.click('#confirm')
      }
      await page.waitForURL(return_url)
      assert.deepEqual((await read(api, payment)).state, { status: 'submitted', finished: false })
      await page.goto(pageOf(payment))
      await page.waitForURL(return_url)
      const path = `payments/${payment.payment_id}/complete`
      const { body } = await ask(service, api, path, {})
      assert.equal(body.state.status, scenario ? 'failed' : 'success')
      assert.deepEqual(complaints, [])
    }))
