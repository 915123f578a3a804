/** The states of the hosted pages, and how a browser reaches each. */
import type { Page } from 'playwright-core'
import { press } from './browser.ts'
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

export const paymentIn = (api: Client, language: Language, fields = {}): Promise<Body> => {
  const description = descriptions[language]
  return api.createPayment({ amount: 123_450, description, language, ...person, ...fields })
}

export async function choose(page: Page, scenario: string): Promise<void> {
  await page.check(`input[name=scenario][value=${scenario}]`)
  await press(page, '#submit-card-details')
}

/** Each state by its name, with the way to it from the details page. */
export const pageStates: Record<string, (page: Page) => Promise<unknown>> = {
  details: async () => {},
  'details-error': page => press(page, '#submit-card-details'),
  confirm: page => choose(page, 'success'),
  cancelled: page => choose(page, 'cancel'),
  declined: page => choose(page, 'declined'),
  technical: page => choose(page, 'error'),
  'not-found': page => page.goto(new URL('/secure/mistyped', page.url()).href),
}

export async function showState(page: Page, api: Client, state: string, language: Language) {
  const { _links } = await paymentIn(api, language)
  await page.goto(_links.next_url.href)
  await pageStates[state]!(page)
}
