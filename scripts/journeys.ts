/** The journeys whose requests and responses are the examples of the documents. */

/** A body of a request or a response. A test compares bodies with the schemas of the documents. */
// biome-ignore lint/suspicious/noExplicitAny: bodies have many shapes
export type Body = any

export type Sent = {
  body?: Body
  form?: Record<string, string>
  headers?: Record<string, string>
  key?: string
  /** Leaves the response, or both, out of the examples. */
  without?: 'response' | 'both'
}

export const LEDGER = 'https://ledger.example.org/payments'
/** The receiver at this address checks the signature of a body that it has parsed and printed again. */
export const PYTHON = 'https://python.example.org/payments'
/** The receiver at this address refuses a message that it has had before. */
export const STRICT = 'https://strict.example.org/payments'

export type Steps = {
  use: (summary: string, method: string, path: string, sent?: Sent) => Promise<Body>
  /** Whether a create with its Idempotency-Key may be sent again. */
  repeats: boolean
  /** Waits until nothing is being delivered. */
  settled: () => Promise<void>
  /** Lets milliseconds pass. */
  pass: (ms: number) => void
  /** Gives the receiver of a webhook its key. */
  signs: (webhook: { callback_url: string; signing_key: string }) => void
}

export async function useApi(steps: Steps, hooks: string): Promise<void> {
  const { use, pass } = steps
  const webhook = await use('A webhook', 'POST', hooks, {
    body: {
      callback_url: LEDGER,
      description: 'Ledger',
      subscriptions: ['card_payment_captured', 'card_payment_refunded'],
    },
  })
  const hook = `${hooks}/${webhook.external_id}`
  await use('A webhook', 'GET', hook)
  await use('One webhook', 'GET', `${hooks}?display_size=1`)
  const paid = await usePages(steps)
  await useCards(steps)
  await useAgreement(steps)
  await useRefunds(steps, paid)
  await use('A page with one payment', 'GET', '/v1/payments?state=success&display_size=1')
  await use('One result', 'GET', '/v1/disputes?status=lost&display_size=1')
  pass(1)
  await steps.settled()
  await use(
    'The oldest message, after a time-out and a second attempt',
    'GET',
    `${hook}/messages?page=7&display_size=1`,
  )
  await use('', 'DELETE', hook)
}

/** Returns a payment that was paid on the pages. */
async function usePages({ use, pass }: Steps): Promise<Body> {
  const web = {
    amount: 8500,
    reference: 'BOAT-1187',
    description: 'Boat licence, 12 months',
    return_url: 'https://boats.example.org/licences/1187/paid',
    email: 'skipper@example.org',
    metadata: { boat: 'Heron', length_m: 9.5, renewal: true },
  }
  const paid = await use('A user pays on the hosted pages', 'POST', '/v1/payments', { body: web })
  const page = new URL(paid._links.next_url.href).pathname
  await use('', 'GET', page)
  pass(47_118)
  await use('The payment goes through', 'POST', page, { form: { scenario: 'success' } })
  await use('', 'GET', `${page}/confirm`)
  pass(47_118)
  await use('Confirm', 'POST', `${page}/confirm`, { form: {} })
  await use('Paid in a browser', 'GET', `/v1/payments/${paid.payment_id}/events`)

  const other = await use('', 'POST', '/v1/payments', { body: web, without: 'both' })
  const otherPage = new URL(other._links.next_url.href).pathname
  await use('The card is declined', 'POST', otherPage, { form: { scenario: 'declined' } })
  const third = await use('', 'POST', '/v1/payments', { body: web, without: 'both' })
  const thirdPage = new URL(third._links.next_url.href).pathname
  await use('', 'POST', thirdPage, { form: { scenario: 'success' }, without: 'both' })
  await use('Cancel', 'POST', `${thirdPage}/confirm`, { form: { scenario: 'cancel' } })
  const fourth = await use('', 'POST', '/v1/payments', { body: web, without: 'both' })
  await use('', 'POST', `/v1/payments/${fourth.payment_id}/cancel`)

  const delayed = await use(
    'The pages in Welsh, a name filled in, captured later',
    'POST',
    '/v1/payments',
    {
      without: 'response',
      body: {
        amount: 30_000,
        reference: 'MOORING-52',
        description: 'Mooring deposit',
        return_url: 'https://boats.example.org/moorings/52/paid',
        delayed_capture: true,
        language: 'cy',
        prefilled_cardholder_details: { cardholder_name: 'Nia Prydderch' },
      },
    },
  )
  const { chargeTokenId } = delayed._links.next_url_post.params
  await use('The first page', 'POST', '/secure', { form: { chargeTokenId } })
  await use('A choice on it', 'POST', '/secure', {
    form: { chargeTokenId, step: 'details', scenario: 'success' },
  })
  pass(47_118)
  await use('', 'POST', '/secure', {
    form: { chargeTokenId, step: 'confirm' },
    without: 'both',
  })
  await use('Waiting to be captured', 'GET', `/v1/payments/${delayed.payment_id}`)
  await use('', 'POST', `/v1/payments/${delayed.payment_id}/capture`)
  return paid
}

async function useCards({ use, pass }: Steps): Promise<void> {
  const card = { cardholder_name: 'Ade Fenwick', cvc: '123', expiry_date: '08/30' }
  const moto = {
    amount: 1200,
    reference: 'PLATE-77',
    description: 'Replacement name plate',
    authorisation_mode: 'moto_api',
  }
  const accepted = await use('A card taken by telephone', 'POST', '/v1/payments', { body: moto })
  pass(47_118)
  await use('A card that is accepted', 'POST', '/v1/auth', {
    body: { ...accepted._links.auth_url_post.params, card_number: '4242424242424242', ...card },
  })
  const declined = await use('', 'POST', '/v1/payments', { body: moto, without: 'both' })
  pass(47_118)
  await use('', 'POST', '/v1/auth', {
    body: { ...declined._links.auth_url_post.params, card_number: '4000000000000002', ...card },
    without: 'both',
  })
  await use('Its card was declined', 'GET', `/v1/payments/${declined.payment_id}`)
}

async function useAgreement({ use, pass, repeats }: Steps): Promise<void> {
  const { agreement_id } = await use('A monthly membership', 'POST', '/v1/agreements', {
    body: {
      reference: 'CLUB-31',
      description: 'Sailing club membership, monthly',
      user_identifier: 'member-31',
    },
  })
  const first = await use('A payment that sets up an agreement', 'POST', '/v1/payments', {
    without: 'response',
    body: {
      amount: 2500,
      reference: 'CLUB-31/11',
      description: 'Sailing club, November',
      return_url: 'https://club.example.org/members/31',
      set_up_agreement: agreement_id,
    },
  })
  pass(47_118)
  const page = new URL(first._links.next_url.href).pathname
  await use('', 'POST', page, { form: { scenario: 'success' }, without: 'both' })
  await use('', 'POST', `${page}/confirm`, { form: {}, without: 'both' })
  const charge: Sent = {
    body: {
      amount: 2500,
      reference: 'CLUB-31/12',
      description: 'Sailing club, December',
      authorisation_mode: 'agreement',
      agreement_id,
    },
    headers: { 'Idempotency-Key': 'club-31-12' },
  }
  await use('A payment made with an agreement', 'POST', '/v1/payments', charge)
  if (repeats) await use('The same request again', 'POST', '/v1/payments', charge)
  await use('An active one', 'GET', `/v1/agreements/${agreement_id}`)
  await use('One agreement', 'GET', '/v1/agreements?display_size=1')
  await use('', 'POST', `/v1/agreements/${agreement_id}/cancel`)
}

async function useRefunds({ use, pass }: Steps, { payment_id }: Body): Promise<void> {
  const refunds = `/v1/payments/${payment_id}/refunds`
  const { refund_id } = await use('A part', 'POST', refunds, { body: { amount: 1500 } })
  await use('One refund', 'GET', refunds)
  pass(5_000)
  await use('After 5 seconds', 'GET', `${refunds}/${refund_id}`)
  await use('A part, if there was no other refund meanwhile', 'POST', refunds, {
    body: { amount: 500, refund_amount_available: 7000 },
  })
  await use('A page with one refund', 'GET', '/v1/refunds?page=2&display_size=1')
  await use('Paid and partly refunded', 'GET', `/v1/payments/${payment_id}`)
}

export async function useControl(steps: Steps): Promise<void> {
  const { use } = steps
  await use('With everything on', 'GET', '/control')
  // Gets the earlier requests written to the record: a message that is sent by hand does not wait for that.
  await use('', 'GET', '/control/check', { without: 'both' })
  await useAccounts(steps)
  await usePlans(steps)
  await useReceivers(steps)
  await useListener(steps)
  const payment = {
    amount: 8500,
    reference: 'BOAT-1188',
    description: 'Boat licence',
    return_url: 'https://boats.example.org/licences/1188/paid',
  }
  const create: Sent = {
    body: payment,
    headers: { 'Idempotency-Key': 'boat-1188-try-1' },
    without: 'both',
  }
  const { payment_id } = await use('', 'POST', '/v1/payments', create)
  await use('One', 'GET', `/control/requests?payment_id=${payment_id}&wait=10000`)
  await use('', 'POST', '/v1/payments', create)
  await use('A fail', 'GET', '/control/check?rule=P4')
  await use('The card is declined', 'POST', `/control/payments/${payment_id}/complete`, {
    body: { scenario: 'declined' },
  })
  await use('One', 'GET', `/control/payments?payment_id=${payment_id}`)
  await use('None', 'GET', '/control/payments?reference=BOAT-1&status=success')
  await use('To the home page', 'POST', '/control/enter', { body: {} })
}

async function useAccounts({ use }: Steps): Promise<void> {
  const usual = await use('The usual call', 'POST', '/control/accounts', { body: {} })
  const still = await use('In the past, standing still', 'POST', '/control/accounts', {
    body: { at: '2026-03-29T00:59:58Z' },
  })
  await use('Two', 'GET', '/control/accounts')
  const { key } = usual
  await use('Stand still', 'POST', '/control/clock', { body: { freeze: true }, key })
  await use('7 days forward', 'POST', '/control/clock', { body: { advance: 604_800_000 }, key })
  await use('It stands still', 'GET', '/control/clock', { key })
  await use('Run on', 'POST', '/control/clock', { body: { resume: true }, key })
  await use('The usual call', 'POST', '/control/reset', { body: {}, key })
  await use('', 'DELETE', `/control/accounts/${still.account}`)
}

async function usePlans({ use }: Steps): Promise<void> {
  const plans: Record<string, Body> = {
    'The card of one payment is declined': { given: { reference: 'R-7' }, scenario: 'declined' },
    'A recurring payment is declined for good': { scenario: 'declined', can_retry: false },
    'A refund stays submitted': { refund: 'held' },
    'A refund fails': { on: 'refundPayment', scenario: 'error' },
    'The account is switched off': { on: 'createPayment', answer: { code: 'P0941' } },
    'The second and third creation get a 503': {
      on: 'createPayment',
      skip: 1,
      times: 2,
      answer: { status: 503 },
    },
    'The answer of a creation is lost': { on: 'createPayment', reset: true, when: 'after' },
    'All reads are slow': { on: 'readPayment', delay: [200, 900], times: 'always' },
  }
  for (const [summary, body] of Object.entries(plans))
    await use(summary, 'POST', '/control/plans', { body })
  const { results } = await use('All of them', 'GET', '/control/plans')
  await use('', 'DELETE', `/control/plans/${results[0].plan_id}`)
  await use('', 'DELETE', '/control/plans')
}

async function useReceivers({ use, signs }: Steps): Promise<void> {
  const webhooks: Body[] = []
  for (const callback_url of [PYTHON, STRICT]) {
    const body = { callback_url }
    webhooks.push(await use('A webhook', 'POST', '/control/webhooks', { body }))
  }
  for (const webhook of webhooks) signs(webhook)
  const [python, strict] = webhooks
  await use('Paid and partly refunded', 'POST', '/control/payments', {
    body: { scenario: 'success', refund: 500 },
  })
  await use('Just created', 'POST', '/control/payments', { body: {} })
  await use('Its refund fails', 'POST', '/control/payments', {
    body: { scenario: 'success', refund: { amount: 500, scenario: 'error' } },
  })
  const messages = '/control/messages?event_type=card_payment_captured'
  const { results } = await use('All', 'GET', messages, { without: 'both' })
  const refused: Body = results.find((each: Body) => each.webhook_id === python.external_id)
  const taken: Body = results.find((each: Body) => each.webhook_id === strict.external_id)
  await use('One', 'GET', `/control/messages?message_id=${taken.message_id}`)
  await use('As it was', 'POST', `/control/messages/${refused.message_id}/send`, { body: {} })
  const taking = `/control/messages/${taken.message_id}/send`
  await use('Twice', 'POST', taking, { body: { times: 2 } })
  await use('It prints the body again', 'POST', `/control/messages/${refused.message_id}/ask`)
  const hook = `/control/webhooks/${strict.external_id}`
  await use('A warning', 'POST', `${hook}/probe`)
  await use('A webhook', 'GET', hook)
  await use('One webhook', 'GET', '/control/webhooks?display_size=1')
  await use('Those of one webhook', 'GET', `${hook}/messages`)
  for (const { external_id } of webhooks)
    await use('', 'DELETE', `/control/webhooks/${external_id}`)
}

async function useListener({ use }: Steps): Promise<void> {
  const { webhook_id } = await use('All events', 'POST', '/control/listeners', {
    body: { name: 'laptop' },
  })
  const listener = `/control/listeners/${webhook_id}`
  await use('None', 'GET', `${listener}/next?wait=0`)
  const made = use('', 'POST', '/control/payments', {
    body: { cancel: true },
    without: 'both',
  })
  const { attempt } = await use('One', 'GET', `${listener}/next?wait=10000`)
  await use('Taken', 'POST', `${listener}/results`, {
    body: {
      attempt_id: attempt.attempt_id,
      status_code: 200,
      response_time: 12,
      result: '200 OK',
    },
  })
  await made
  await use('', 'DELETE', listener)
}
