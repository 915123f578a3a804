/** Concurrent requests to one payment. */
import assert from 'node:assert/strict'
import type { Body } from '../support/client.ts'
import { createRecorder, type Machine, type Operation } from './linearizability.ts'
import type { Ask } from './race.ts'

export type Doing =
  | 'open'
  | 'choose success'
  | 'choose declined'
  | 'choose error'
  | 'choose cancel'
  | 'confirm'
  | 'authorise'
  | 'authorise declined'
  | 'cancel'
  | 'capture'
  | 'read'
  | { refund: number }

type State = { status: string; chosen: boolean; carded: boolean; refunded: number }

const AMOUNT = 100

const open = new Set(['created', 'started'])

/** What a payment does with one operation at a time: Specification, *States and transitions*. */
const paymentMachine = (delayed: boolean): Machine<State, Doing> => {
  const paid = delayed ? 'capturable' : 'success'
  const ended: Record<string, string> = {
    'choose declined': 'failed',
    'choose error': 'error',
    'choose cancel': 'failed',
  }
  function apply(state: State, doing: Doing): { state: State; output: string } {
    const { status } = state
    const stays = (output: string) => ({ state, output })
    const becomes = (change: Partial<State>, output: string) => ({
      state: { ...state, ...change },
      output,
    })
    if (typeof doing === 'object') {
      const { refund } = doing
      const isPossible = status === 'success' && refund <= AMOUNT - state.refunded
      return isPossible ? becomes({ refunded: state.refunded + refund }, '202') : stays('400')
    }
    switch (doing) {
      case 'read':
        return stays(`${status} ${state.refunded}`)
      case 'cancel':
        return open.has(status) || status === 'capturable'
          ? becomes({ status: 'cancelled', chosen: false }, '204')
          : stays('400')
      case 'capture':
        return status === 'capturable' ? becomes({ status: 'success' }, '204') : stays('409')
      case 'authorise':
      case 'authorise declined': {
        if (state.carded) return stays('400 P1212')
        if (status !== 'created') return stays('400 P1211')
        const isDeclined = doing === 'authorise declined'
        const change = { status: isDeclined ? 'failed' : paid, carded: true }
        return becomes(change, isDeclined ? '402 P0010' : '204')
      }
    }
    if (!open.has(status)) return stays('303 away')
    if (doing === 'open') return becomes({ status: 'started' }, '200')
    if (doing === 'choose success')
      return becomes({ status: 'started', chosen: true }, '303 to confirm')
    if (doing === 'confirm')
      return state.chosen ? becomes({ status: paid, chosen: false }, '303 away') : stays('303 back')
    return becomes({ status: ended[doing] ?? '', chosen: false }, '200')
  }
  return {
    initial: { status: 'created', chosen: false, carded: false, refunded: 0 },
    apply,
  }
}

/** The operations that clients choose from, by mode. Repeated ones are chosen more often. */
const doings: Record<'web' | 'moto_api', Doing[]> = {
  web: [
    ...(['open', 'choose success', 'choose success', 'confirm', 'confirm', 'confirm'] as const),
    ...(['choose declined', 'choose error', 'choose cancel', 'cancel'] as const),
    ...(['capture', 'capture', 'read', 'read', 'read'] as const),
    { refund: 60 },
    { refund: 30 },
  ],
  moto_api: [
    ...(['authorise', 'authorise', 'authorise', 'authorise declined', 'cancel'] as const),
    ...(['capture', 'capture', 'read', 'read', 'read'] as const),
    { refund: 60 },
    { refund: 60 },
    { refund: 30 },
  ],
}

export type PaymentRace = { history: Operation<Doing>[]; machine: Machine<State, Doing> }

const CLIENTS = 5
const EACH = 3

/** Creates a payment, to which several clients then send a few requests each. */
export async function racePayment(ask: Ask, random: () => number): Promise<PaymentRace> {
  const delayed = random() < 0.5
  const mode = random() < 0.7 ? 'web' : 'moto_api'
  const made = await ask({
    method: 'POST',
    path: '/v1/payments',
    json: {
      amount: AMOUNT,
      reference: 'RACE-1',
      description: 'A race',
      delayed_capture: delayed,
      ...(mode === 'web'
        ? { return_url: 'https://shops.example.org/' }
        : { authorisation_mode: mode }),
    },
  })
  const { history, record } = createRecorder<Doing>()
  const choices = doings[mode]
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let nth = 0; nth < EACH; nth++) {
        const doing = choices[Math.floor(random() * choices.length)] ?? 'read'
        await record(doing, () => perform(ask, made.body, doing))
      }
    }),
  )
  await record('read', () => perform(ask, made.body, 'read'))
  return { history, machine: paymentMachine(delayed) }
}

async function perform(ask: Ask, payment: Body, doing: Doing): Promise<string> {
  const path = `/v1/payments/${payment.payment_id}`
  const page = new URL(payment._links.next_url?.href ?? 'http://none').pathname
  if (typeof doing === 'object')
    return status(
      await ask({ method: 'POST', path: `${path}/refunds`, json: { amount: doing.refund } }),
    )
  switch (doing) {
    case 'read': {
      const { body } = await ask({ method: 'GET', path })
      const { state, settlement_summary, _links } = body
      assert.equal(settlement_summary.captured_date !== undefined, state.status === 'success')
      assert.equal(_links.capture !== undefined, state.status === 'capturable')
      return `${body.state.status} ${AMOUNT - body.refund_summary.amount_available}`
    }
    case 'cancel':
    case 'capture':
      return status(await ask({ method: 'POST', path: `${path}/${doing}` }))
    case 'authorise':
    case 'authorise declined':
      return status(
        await ask({ method: 'POST', path: '/v1/auth', json: card(payment, doing) }),
        'code',
      )
    case 'open':
      return page303(await ask({ method: 'GET', path: page }))
    case 'confirm':
      return page303(await ask({ method: 'POST', path: `${page}/confirm`, form: {} }))
    default: {
      const scenario = doing.replace('choose ', '')
      return page303(await ask({ method: 'POST', path: page, form: { scenario } }))
    }
  }
}

const card = (payment: Body, doing: 'authorise' | 'authorise declined') => ({
  one_time_token: payment._links.auth_url_post.params.one_time_token,
  card_number: doing === 'authorise' ? '4444333322221111' : '4000000000000002',
  cardholder_name: 'A Racer',
  cvc: '123',
  expiry_date: '09/39',
})

type Answered = Awaited<ReturnType<Ask>>

const status = (answer: Answered, more?: 'code'): string =>
  more && answer.body ? `${answer.status} ${answer.body.code}` : `${answer.status}`

function page303({ status, location }: Answered): string {
  if (status !== 303) return `${status}`
  if (location?.startsWith('https:')) return '303 away'
  return location?.endsWith('/confirm') ? '303 to confirm' : '303 back'
}
