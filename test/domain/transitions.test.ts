import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  advance,
  type Change,
  type FailureCode,
  type Status,
  statuses,
  type Trigger,
  transitions,
} from '../../src/pay/payments/payment.ts'
import { presentPayment } from '../../src/pay/payments/response.ts'
import type { EventType } from '../../src/pay/webhooks/webhook.ts'
import { CREATED, samplePayment } from '../support/sample-payment.ts'

type Move = { events: Status[]; code?: FailureCode; sends: EventType[] }

const addresses = { api: 'http://127.0.0.1:3000', pages: 'http://127.0.0.1:3000' }
const LATER = CREATED + 60_000
const triggers = Object.keys(transitions) as Trigger[] // the table has no other keys

/** The transition table of the specification, and what only control causes. Returns what an allowed transition does. */
function allowed(from: Status, trigger: Trigger, delayed: boolean): Move | undefined {
  const authorised = delayed ? ('capturable' as const) : ('success' as const)
  const paid: EventType[] = delayed
    ? ['card_payment_succeeded']
    : ['card_payment_succeeded', 'card_payment_captured']
  const failed: EventType[] = ['card_payment_failed']
  const cancelled: Move = {
    events: ['cancelled'],
    code: 'P0040',
    sends: ['card_payment_cancelled'],
  }
  const expired: Move = { events: ['failed'], code: 'P0020', sends: [] }
  const cells: Partial<Record<Status, Partial<Record<Trigger, Move>>>> = {
    created: {
      open_page: { events: ['started'], sends: [] },
      choose_success: { events: ['started'], sends: [] },
      choose_declined: { events: ['started', 'failed'], code: 'P0010', sends: failed },
      choose_error: { events: ['started', 'error'], code: 'P0050', sends: failed },
      choose_cancel: { events: ['failed'], code: 'P0030', sends: failed },
      authorise: { events: ['started', 'submitted', authorised], sends: paid },
      authorise_declined: { events: ['started', 'failed'], code: 'P0010', sends: failed },
      authorise_error: { events: ['started', 'error'], code: 'P0050', sends: failed },
      authorise_held: { events: ['started', 'submitted'], sends: [] },
      expire: expired,
      cancel: cancelled,
    },
    started: {
      choose_success: { events: [], sends: [] },
      confirm: { events: ['submitted', authorised], sends: paid },
      choose_declined: { events: ['failed'], code: 'P0010', sends: failed },
      choose_error: { events: ['error'], code: 'P0050', sends: failed },
      choose_cancel: { events: ['failed'], code: 'P0030', sends: failed },
      cancel: cancelled,
      confirm_held: { events: ['submitted'], sends: [] },
      expire: expired,
    },
    submitted: {
      authorise: { events: [authorised], sends: paid },
      authorise_declined: { events: ['failed'], code: 'P0010', sends: failed },
      authorise_error: { events: ['error'], code: 'P0050', sends: failed },
      expire: expired,
    },
    capturable: {
      cancel: cancelled,
      expire: expired,
      capture: { events: ['success'], sends: ['card_payment_captured'] },
    },
  }
  return cells[from]?.[trigger]
}

const messages: Record<FailureCode, string> = {
  P0010: 'Payment method rejected',
  P0020: 'Payment expired',
  P0030: 'Payment was cancelled by the user',
  P0040: 'Payment was cancelled by the service',
  P0050: 'Payment provider returned an error',
}
const finished = ['success', 'failed', 'error', 'cancelled']

function checkMove({ before, after, sends }: Change, move: Move): void {
  const last = before.events.length - 1
  assert.deepEqual(after.events.slice(0, last + 1), before.events, 'the earlier events stay')
  const events = move.events.map((status, i) => ({
    status,
    at: LATER,
    ...(move.code && i === move.events.length - 1 && { code: move.code }),
  }))
  assert.deepEqual(after.events.slice(last + 1), events)
  assert.deepEqual(sends, move.sends)
  assert.equal(after.version, before.version + 1)
  if (events.length === 0) return
  const status = move.events.at(-1) ?? ''
  assert.deepEqual(presentPayment(after, addresses).state, {
    status,
    finished: finished.includes(status),
    ...(move.code && { code: move.code, message: messages[move.code] }),
  })
}

describe('Transitions of a payment', () => {
  test('there are eight statuses and fourteen triggers', () => {
    assert.deepEqual([statuses.length, triggers.length], [8, 14])
  })

  for (const delayed_capture of [false, true])
    for (const from of statuses)
      test(`a payment that is ${from} moves as specified and in no other way, delayed_capture ${delayed_capture}`, () => {
        for (const trigger of triggers) {
          const before = samplePayment(from, { delayed_capture }, { success_chosen: true })
          const change = advance(before, trigger, LATER)
          const move = allowed(from, trigger, delayed_capture)
          if (!move) assert.equal(change, undefined, `${from} by ${trigger}`)
          else checkMove(change ?? assert.fail(`${from} by ${trigger} is allowed`), move)
        }
      })

  test('confirm moves a payment only after success was chosen, also if it is held', () => {
    for (const trigger of ['confirm', 'confirm_held'] as const)
      assert.equal(advance(samplePayment('started'), trigger, LATER), undefined)
  })

  test('the choice of success is stored, and removed by the next trigger', () => {
    const chosen = advance(samplePayment('started'), 'choose_success', LATER)?.after
    assert.equal(chosen?.success_chosen, true)
    for (const trigger of ['confirm', 'choose_declined', 'cancel'] as const)
      assert.equal(advance(chosen, trigger, LATER)?.after.success_chosen, false, trigger)
  })

  test('advance does not change the payment that it is given', () => {
    const before = samplePayment('created')
    const copy = structuredClone(before)
    advance(before, 'cancel', LATER)
    assert.deepEqual(before, copy)
  })

  test('the times of events never decrease, even when the clock is set back', () => {
    const before = samplePayment('started')
    const change = advance(before, 'cancel', CREATED - 5000)
    assert.equal(change?.after.events.at(-1)?.at, before.events.at(-1)?.at)
  })

  test('a payment keeps the card of the trigger that submits one', () => {
    const card = { card_type: 'credit', cardholder_name: 'A Caller' } as const
    assert.deepEqual(advance(samplePayment('created'), 'authorise', LATER, card)?.after.card, card)
    const kept = samplePayment('capturable', {}, { card })
    assert.deepEqual(advance(kept, 'cancel', LATER)?.after.card, card)
    const cancelled = advance(samplePayment('created'), 'choose_cancel', LATER)
    assert.equal(cancelled?.after.card, undefined)
  })

  test('submits the mock card on the hosted pages, whatever card is passed', () => {
    const before = samplePayment('started', {}, { success_chosen: true })
    const passed = { card_type: 'debit', last_digits_card_number: '0002' } as const
    for (const trigger of ['confirm', 'choose_declined', 'choose_error'] as const) {
      const card = advance(before, trigger, LATER, passed)?.after.card
      assert.equal(card?.last_digits_card_number, '4242', trigger)
    }
    assert.equal(advance(before, 'cancel', LATER, passed)?.after.card, undefined)
  })
})
