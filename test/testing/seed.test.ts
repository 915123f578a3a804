/** With a seed, a frozen clock and fixed addresses every run has the same bytes: nothing below is masked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFarthing } from '../../src/testing/library.ts'
import type { Account, Choice } from '../../src/testing/public.d.ts'
import { tempDatabase } from '../support/folders.ts'

const options = {
  seed: 7,
  at: '2026-03-29T00:59:58Z',
  baseUrl: 'https://payments.example.org',
  returnHosts: '',
}

type End = (
  account: Account,
  payment: { payment_id: string; page: string },
  scenario: Choice,
) => Promise<unknown>

/** Everything that a client and a webhook receiver see of payments that end by `end`. */
async function story(seed: number, end: End): Promise<string[]> {
  await using farthing = await startFarthing({ ...options, seed })
  const account = await farthing.account()
  const { send } = account
  const receiver = await account.receive()
  const seen = [farthing.key, account.name, account.key, receiver.signingKey]
  const about = { reference: 'R', description: 'D' }
  const payments: [fields: object | 'agreement', scenario: Choice][] = [
    [{}, 'success'],
    [{}, 'declined'],
    [{}, 'error'],
    [{}, 'cancel'],
    [{ delayed_capture: true }, 'success'],
    [{ language: 'cy' }, 'success'],
    ['agreement', 'success'],
    ['agreement', 'declined'],
  ]
  for (const [fields, scenario] of payments) {
    // Every way to end makes the plan, because its identifier uses up random digits too.
    const plan = await account.plan({ scenario })
    if (end !== byPlan) await plan.remove()
    const setUp =
      fields === 'agreement'
        ? { set_up_agreement: (await send('POST', '/v1/agreements', about)).body.agreement_id }
        : fields
    const given = { ...about, amount: 500, return_url: 'https://a.example/', ...setUp }
    const { text, body } = await send('POST', '/v1/payments', given)
    const { payment_id, _links } = body
    await end(account, { payment_id, page: new URL(_links.next_url.href).pathname }, scenario)
    seen.push(text)
    const path = `/v1/payments/${payment_id}`
    for (const look of [path, `${path}/events`, '/v1/agreements?reference=R'])
      seen.push((await send('GET', look)).text)
  }
  await account.settled({ timeout: '30s' })
  seen.push(...receiver.all().map(({ raw }) => raw))
  await account.reset({ at: options.at })
  seen.push(JSON.stringify(await account.payment()))
  return seen
}

const byComplete: End = (account, { payment_id }, scenario) =>
  account.complete(payment_id, scenario)

/** As a browser does: it opens the page, sends its form and, for success, the second form. */
const byPages: End = async ({ send }, { page }, scenario) => {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  await send('GET', page)
  await send('POST', page, `scenario=${scenario}`, form)
  if (scenario === 'success') await send('POST', `${page}/confirm`, '', form)
}

const byPlan: End = async ({ send }, { page }, scenario) => {
  const { status } = await send('GET', page)
  assert.equal(status, scenario === 'success' ? 303 : 200)
}

test('complete and a scenario plan leave byte for byte what the pages leave, in each run with the seed and in no other', async () => {
  const [first, planned, pages, other] = await Promise.all([
    story(7, byComplete),
    story(7, byPlan),
    story(7, byPages),
    story(8, byComplete),
  ])
  assert.deepEqual(pages, first)
  assert.deepEqual(pages, planned)
  const shared = other.filter(text => first.includes(text) && !text.startsWith('{"total":0'))
  assert.deepEqual(shared, [])
})

test('a service that starts anew with its seed and its database makes accounts with further names', async () => {
  const again = { ...options, database: tempDatabase() }
  const keys = new Set<string>()
  for (let start = 0; start < 2; start++) {
    await using farthing = await startFarthing(again)
    for (let n = 0; n < 2; n++) {
      const account = await farthing.account()
      await account.payment()
      keys.add(account.key)
    }
  }
  assert.equal(keys.size, 4)
})
