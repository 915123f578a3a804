import type { Choice, PageLike } from './public.d.ts'

/** The pages have the element ids of GOV.UK Pay. */
export async function payOnPages(page: PageLike, scenario: Choice = 'success'): Promise<void> {
  const isHosted = ({ pathname }: { pathname: string }) => pathname.startsWith('/secure')
  await page.waitForURL(isHosted)
  await page.check(`input[value=${scenario}]`)
  await page.click('#submit-card-details')
  await page.click(scenario === 'success' ? '#confirm' : '#return-url')
  await page.waitForURL(url => !isHosted(url))
}
