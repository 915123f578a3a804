import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pages, sections } from '../../../src/tools/console/pages.ts'
import { classed, only } from '../../hosted/document.ts'
import type { Client } from '../../support/client.ts'
import { consoleOf, enter, headingOf, type Shown, signIn } from '../../support/console.ts'
import { onOneDatabase, onSharedDatabases } from '../../support/service.ts'

const bannerIn = ({ elements }: Shown): string | undefined =>
  elements.find(classed('govuk-notification-banner__content'))?.text.trim()

const isGreen = ({ html }: Shown): boolean => html.includes('govuk-notification-banner--success')

test('every page with a text for the navigation is in it, and every entry there is a page', () => {
  const named = pages.filter(({ navigation }) => navigation !== undefined)
  const texts = named.map(({ path, navigation }) => `${path} ${navigation}`)
  const entries = sections.flatMap(section => section.pages)
  assert.deepEqual(entries.map(({ path, text }) => `${path} ${text}`).sort(), texts.sort())
})

onSharedDatabases('Forms of the console', service => {
  const paid = async (api: Client) => {
    const { payment_id } = await api.createPayment({ delayed_capture: true })
    const browser = await signIn(service(), api)
    const address = `payments/${payment_id}`
    await browser.post(`${address}/complete`, { scenario: 'success' })
    await browser.get(address)
    await browser.post(`${address}/capture`)
    await browser.get(address)
    return { browser, address }
  }
  const refunded = async (api: Client, address: string) =>
    (await api.get(`/v1/${address}`)).body.refund_summary.amount_submitted

  test('a banner is shown once, on the page of what happened, and no address asks for one', async () => {
    const api = await service().newAccount()
    const { browser, address } = await paid(api)
    for (const query of ['', '?done=captured', '?done=refunded'])
      assert.equal(bannerIn(await browser.get(address + query)), undefined, query)
    const acted = await browser.post(`${address}/refund`, { amount: '6.50' })
    const [left = ''] = acted.headers.getSetCookie()
    assert.match(left, /Max-Age=60; HttpOnly; SameSite=Strict/)
    assert.equal(bannerIn(await browser.get('payments')), undefined, 'another page')
    const page = await browser.get(address)
    assert.deepEqual([bannerIn(page), isGreen(page)], ['A refund of £6.50 is made.', true])
    assert.equal(bannerIn(await browser.get(address)), undefined, 'after a reload')
    const forged = consoleOf(service(), `${browser.cookie}; farthing_console_done=x.1.${address}`)
    assert.equal(bannerIn(await forged.get(address)), undefined)
  })

  test('a form that is sent after the session has ended does nothing, says so, and leads back to its page', async () => {
    const api = await service().newAccount()
    const { address } = await paid(api)
    const stranger = consoleOf(service())
    // The page of the form was opened from a filtered list.
    const filtered = `${address}?back=status%3Dsuccess`
    const form = filtered.replace('?', '/refund?')
    const lost = await stranger.post(form, { amount: '6.50' })
    const to = new URLSearchParams({ to: filtered })
    assert.deepEqual([lost.status, lost.location], [303, `sign-in?${to}`])
    const page = await stranger.get(lost.location ?? '')
    assert.equal(bannerIn(page), 'You were signed out. Nothing was done: do it again.')
    assert.deepEqual([isGreen(page), await refunded(api, address)], [false, 0])
    const entered = await stranger.post('sign-in', { key: api.key ?? '', to: filtered })
    assert.equal(entered.location, filtered)
  })

  test('a page of the account that was signed in before does nothing, and says which account it is now', async () => {
    const first = await service().newAccount()
    const { browser: before, address } = await paid(first)
    const { name, browser: now } = await enter(service())
    const { elements } = await before.get(address)
    const hiddenIn = (path: string): Record<string, string> => {
      const form = only(elements, ({ attributes }) => attributes.action?.endsWith(path) ?? false)
      const { attributes } = only(form.inside, each => each.attributes.name === 'account')
      return { account: attributes.value ?? '' }
    }
    for (const path of [`${address}/refund`, 'sign-out']) {
      const answer = await now.post(path, hiddenIn(path))
      assert.deepEqual([answer.status, headingOf(answer)], [409, `You are now in ${name}`])
      assert.match(answer.text, /Nothing was done/)
    }
    assert.equal(await refunded(first, address), 0)
    assert.equal((await now.get('payments')).status, 200, 'still signed in')
    const refund = `${address}/refund`
    const own = await before.post(refund, { ...hiddenIn(refund), amount: '1' })
    assert.equal(own.done, 'refunded')
  })
})

onOneDatabase('Every form of the console', service => {
  test('every form of every page does nothing for another site, without a session, from the page of another account, and with an unknown identifier', async () => {
    const browser = await signIn(service(), await service().newAccount())
    // The form of the signature changes nothing, and has a type of its own.
    const forms = pages.flatMap(page => page.forms).filter(form => form !== 'signature')
    assert.ok(forms.length >= 13)
    for (const form of forms) {
      const path = form.replace(/\{\w+\}/, '0'.repeat(26))
      const from = { 'Sec-Fetch-Site': 'cross-site' }
      assert.equal((await browser.post(path, {}, from)).status, 403, form)
      const lost = await consoleOf(service()).post(path)
      assert.equal(lost.done, 'lost', form)
      assert.match(lost.location ?? '', /^sign-in\?to=/, form)
      assert.equal((await browser.post(path, { account: 'other' })).status, 409, form)
      if (path !== form) assert.equal((await browser.post(path)).status, 404, form)
    }
  })
})
