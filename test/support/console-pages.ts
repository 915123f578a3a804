/** The pages of the console in every state that differs in its parts. */
import type { Page } from 'playwright-core'
import type { Body } from './client.ts'
import type { Shelf } from './console-states.ts'

/** `ended` is the name of a test account that has ended. */
type Shown = { shelf: Shelf; open: Body; agreement: Body; ended: string }

/** Presses a button and waits for the page that it leads to. */
export const press = (page: Page, selector: string) =>
  Promise.all([page.waitForEvent('load'), page.click(selector)])

/** `at` opens a page below /console, and `shown` is what there is once the tests run. */
export const consolePages = (
  at: (page: Page, path: string) => Promise<unknown>,
  shown: () => Shown,
): Record<string, (page: Page) => Promise<unknown>> => ({
  'the home page, with the table of its bars open': async page => {
    await at(page, '')
    await page.click('summary')
  },
  payments: page => at(page, 'payments'),
  'payments without a match': page => at(page, 'payments?q=nothing'),
  'payments from a day that cannot be read': page => at(page, 'payments?from=yesterday'),
  'a payment that failed': page => at(page, `payments/${shown().shelf.declined.payment_id}`),
  'a payment that is open': page => at(page, `payments/${shown().open.payment_id}`),
  'a payment that is paid, with all details open': async page => {
    await at(page, `payments/${shown().shelf.paid.payment_id}`)
    for (const each of await page.locator('summary').all()) await each.click()
  },
  'a refund that is too high': async page => {
    await at(page, `payments/${shown().shelf.paid.payment_id}`)
    await page.fill('#amount', '99999999')
    await press(page, '#refund')
  },
  'a new payment': page => at(page, 'payments/new'),
  'a new payment that is refused, with all details open': async page => {
    await at(page, 'payments/new?country=GB')
    await page.fill('#amount', '')
    await press(page, '#create')
    await page.waitForSelector('#amount-error')
  },
  'a user who is back': page => at(page, `back/${shown().shelf.declined.payment_id}`),
  requests: page => at(page, 'requests'),
  'refused requests': page => at(page, 'requests?show=refused'),
  'a request': async page => {
    await at(page, 'requests')
    await Promise.all([page.waitForEvent('load'), page.click('a[href^="requests/"]')])
  },
  'accounts, one of which has ended': page => at(page, 'accounts'),
  'a test account that has ended': page => at(page, `a/${shown().ended}`),
  agreements: page => at(page, 'agreements'),
  'an agreement': page => at(page, `agreements/${shown().agreement.agreement_id}`),
  deliveries: page => at(page, 'deliveries'),
  webhooks: page => at(page, 'webhooks'),
  'a webhook': page => at(page, `webhooks/${shown().shelf.archive.external_id}`),
  'a new webhook that is refused': async page => {
    await at(page, 'webhooks/new')
    await page.fill('#callback_url', 'http://10.0.0.1/')
    await press(page, '#register')
    await page.waitForSelector('#callback_url-error')
  },
  'a message that failed': page =>
    at(page, `messages/${shown().shelf.failed[0].webhook_message_id}`),
  'a message that cannot be sent': page =>
    at(page, `messages/${shown().shelf.unsendable.webhook_message_id}`),
  'the signature workbench': page =>
    at(page, `signature?message=${shown().shelf.failed[0].webhook_message_id}`),
  'the check, with all details open': async page => {
    await at(page, 'check')
    for (const each of await page.locator('summary').all()) await each.click()
  },
  'an unknown page': page => at(page, 'nothing'),
})
