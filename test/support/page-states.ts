/** Every state of the hosted pages that a person can get to, and the way there in a browser. */
import type { Page } from 'playwright-core'
import type { Body, Client } from './client.ts'

export type Language = 'en' | 'cy'

export const person = {
  email: 'gwen@example.org',
  prefilled_cardholder_details: {
    cardholder_name: 'Gwen Hughes',
    billing_address: {
      line1: '1 Sample Street',
      line2: 'Upper End',
      city: 'Sampleton',
      postcode: 'ZZ1 1ZZ',
      country: 'GB',
    },
  },
}

const descriptions = { en: 'Market pitch, week 38', cy: 'Llain farchnad, wythnos 38' }

/** A web payment whose pages are in this language. */
export const paymentIn = (api: Client, language: Language, fields = {}): Promise<Body> =>
  api.createPayment({
    amount: 123_450,
    description: descriptions[language],
    language,
    ...person,
    ...fields,
  })

/** Chooses a scenario on the details page, which the browser shows, and continues to the next one. */
export async function choose(page: Page, scenario: string): Promise<void> {
  await page.check(`input[name=scenario][value=${scenario}]`)
  await press(page, '#submit-card-details')
}

/** Presses a button that leads to a page, and waits for all of that page. */
export async function press(page: Page, button: string): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.click(button)])
}

type Way = (page: Page) => Promise<void>

/** The name of each state, and the way to it from a details page. */
export const pageStates: Record<string, Way> = {
  details: async () => {},
  'details-error': page => press(page, '#submit-card-details'),
  confirm: page => choose(page, 'success'),
  cancelled: page => choose(page, 'cancel'),
  declined: page => choose(page, 'declined'),
  technical: page => choose(page, 'error'),
  'not-found': async page => {
    await page.goto(new URL('/secure/mistyped', page.url()).href)
  },
}

/** Brings the browser to a state, by a payment of its own. */
export async function showState(
  page: Page,
  api: Client,
  state: string,
  language: Language,
): Promise<void> {
  const way = pageStates[state]
  if (!way) throw new Error(`no state of the pages is called ${state}`)
  const payment = await paymentIn(api, language)
  await page.goto(payment._links.next_url.href)
  await way(page)
}
