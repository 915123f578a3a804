/** The pages of the console, and every state of them that differs in its parts. */
import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { bringSession, press, type Visitor } from './browser.ts'
import type { Body, Client } from './client.ts'
import type { Shelf } from './console-states.ts'
import { ask } from './control.ts'
import type { Service } from './service.ts'

type Filled = { shelf: Shelf; open: Body; agreement: Body }

/** Returns a function from the path of a page to its address, where it has something to show. Control must be on. */
export async function addressesOf(
  service: Service,
  api: Client,
  { shelf, agreement }: Pick<Filled, 'shelf' | 'agreement'>,
): Promise<(path: string) => string> {
  const requests = (await ask(service, api, 'requests')).body.results
  const ids: Record<string, string> = {
    payment_id: shelf.declined.payment_id,
    agreement_id: agreement.agreement_id,
    webhook_id: shelf.archive.external_id,
    message_id: shelf.failed[0]?.webhook_message_id,
    exchange_id: requests.at(-1).request_id,
  }
  return path => {
    if (path === 'signature') return `signature?message=${ids.message_id}`
    return path.replace(/\{(\w+)\}/, (_, name) => {
      assert.ok(ids[name], `give addressesOf an example of ${name}`)
      return ids[name]
    })
  }
}

/** Signs in to a window, whose page must complain of nothing. */
export async function useAs(
  baseUrl: string,
  session: string,
  visitor: Visitor,
  use: (visitor: Visitor) => Promise<void>,
): Promise<void> {
  await bringSession(visitor.context, baseUrl, session)
  await use(visitor)
  assert.deepEqual(visitor.complaints, [])
}

/** Opens all details of a page, those within others too. */
export const openDetails = (page: Page): Promise<void> =>
  page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")

/**
 * States of pages besides those that `addressesOf` opens. `at` opens a page below /console, and `shown` is what there is
 * once the tests run. `ended` is the name of a test account that has ended.
 */
export const pageStates = (
  at: (page: Page, path: string) => Promise<unknown>,
  shown: () => Filled & { ended: string },
): Record<string, (page: Page) => Promise<unknown>> => ({
  'payments without a match': page => at(page, 'payments?q=nothing'),
  'payments from a day that cannot be read': page => at(page, 'payments?from=tomorrow'),
  'a payment that is open': page => at(page, `payments/${shown().open.payment_id}`),
  'a refund that is too high, with all details open': async page => {
    await at(page, `payments/${shown().shelf.paid.payment_id}`)
    await page.fill('#amount', '99999999')
    await press(page, '#refund')
    await openDetails(page)
  },
  'a new payment that is refused, with all details open': async page => {
    await at(page, 'payments/new')
    await page.click('#prefilled summary')
    await page.fill('#country', 'GB')
    await page.fill('#amount', '')
    await press(page, '#create')
    await page.waitForSelector('#amount-error')
  },
  'a test account that has ended': page => at(page, `a/${shown().ended}`),
  'a new webhook that is refused': async page => {
    await at(page, 'webhooks/new')
    await page.fill('#callback_url', 'http://10.0.0.1/')
    await press(page, '#register')
    await page.waitForSelector('#callback_url-error')
  },
  'a message that cannot be sent': page =>
    at(page, `messages/${shown().shelf.unsendable.webhook_message_id}`),
  'a message whose receiver was asked': async page => {
    await at(page, `messages/${shown().shelf.failed[0]?.webhook_message_id}`)
    await press(page, '#ask-receiver')
    await page.click('#copies summary')
  },
  'a webhook whose receiver was probed': async page => {
    await at(page, `webhooks/${shown().shelf.ledger.external_id}`)
    await press(page, '#probe')
  },
  'an unknown page': page => at(page, 'nothing'),
})
