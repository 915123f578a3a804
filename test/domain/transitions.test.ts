import assert from 'node:assert/strict'
import { test } from 'node:test'
import { behaviours } from '../../src/core/account.ts'
import { advance } from '../../src/pay/payments/advance.ts'
import {
  type AuthorisationMode,
  type Change,
  type FailureCode,
  type Status,
  statuses,
} from '../../src/pay/payments/payment.ts'
import { type Trigger, transitions } from '../../src/pay/payments/transitions.ts'
import type { EventType } from '../../src/pay/webhooks/webhook.ts'
import { CREATED, samplePayment } from '../support/sample-payment.ts'

type Move = { events: Status[]; code?: FailureCode; sends: EventType[] }

const LATER = CREATED + 60_000
const triggers = Object.keys(transitions.specification) as Trigger[] // the table has no other keys

type Cells = Partial<Record<Status, Partial<Record<Trigger, Move>>>>

const FAILED: EventType[] = ['card_payment_failed']
const DECLINED: Move = { events: ['failed'], code: 'P0010', sends: FAILED }
const ERROR: Move = { events: ['error'], code: 'P0050', sends: FAILED }
const LEFT: Move = { events: ['failed'], code: 'P0030', sends: FAILED }
const CANCELLED: Move = { events: ['cancelled'], code: 'P0040', sends: ['card_payment_cancelled'] }
const STARTED: Move = { events: ['started'], sends: [] }

const after = (status: Status, move: Move): Move => ({ ...move, events: [status, ...move.events] })

function specified(delayed: boolean): Cells {
  const paid: Move = delayed
    ? { events: ['capturable'], sends: ['card_payment_succeeded'] }
    : { events: ['success'], sends: ['card_payment_succeeded', 'card_payment_captured'] }
  return {
    created: {
      open_page: STARTED,
      choose_success: STARTED,
      choose_declined: after('started', DECLINED),
      choose_error: after('started', ERROR),
      choose_cancel: LEFT,
      authorise: after('started', after('submitted', paid)),
      authorise_declined: after('started', DECLINED),
      authorise_error: after('started', ERROR),
      cancel: CANCELLED,
    },
    started: {
      choose_success: { events: [], sends: [] },
      confirm: after('submitted', paid),
      choose_declined: DECLINED,
      choose_error: ERROR,
      choose_cancel: LEFT,
      cancel: CANCELLED,
    },
    capturable: {
      cancel: CANCELLED,
      capture: { events: ['success'], sends: ['card_payment_captured'] },
    },
  }
}

/** The answers of GOV.UK Pay instead, by its public source. */
function known(delayed: boolean, mode: AuthorisationMode): Cells {
  const cancelled: Move = { ...CANCELLED, sends: FAILED }
  const expired: Move = { events: ['failed'], code: 'P0020', sends: ['card_payment_expired'] }
  const succeeded: Move = { events: ['success'], sends: ['card_payment_succeeded'] }
  const paid: Move = delayed ? { events: ['capturable'], sends: [] } : succeeded
  const open = mode === 'agreement' ? {} : { cancel: cancelled, expire: expired }
  const charged: Cells['created'] = {
    authorise: after('submitted', paid),
    authorise_declined: DECLINED,
    authorise_error: ERROR,
  }
  const submitted: Move = { events: ['submitted'], sends: [] }
  return {
    created: {
      ...open,
      ...charged,
      open_page: STARTED,
      choose_success: after('started', submitted),
      choose_declined: after('started', DECLINED),
      choose_error: after('started', ERROR),
      choose_cancel: LEFT,
      ...(mode === 'agreement' && { queue_charge: STARTED }),
    },
    started: {
      ...open,
      ...(mode === 'agreement' && charged),
      choose_success: submitted,
      choose_declined: DECLINED,
      choose_error: ERROR,
      choose_cancel: LEFT,
    },
    submitted: { ...open, confirm: paid, choose_cancel: LEFT },
    capturable: { cancel: cancelled, capture: succeeded, expire: expired },
    success: {
      confirm_capture: { events: [], sends: ['card_payment_captured'] },
      fail_capture: { events: ['error'], code: 'P0050', sends: [] },
    },
  }
}

function checkMove({ before, after, sends }: Change, move: Move): void {
  const last = before.events.length - 1
  assert.deepEqual(after.events.slice(0, last + 1), before.events, 'the earlier events stay')
  const events = move.events.map((status, i) => ({
    status,
    at: LATER,
    ...(move.code && i === move.events.length - 1 && { code: move.code }),
  }))
  const made = after.events.slice(last + 1).map(({ can_retry, ...event }) => event)
  assert.deepEqual(made, events)
  assert.deepEqual(sends, move.sends)
  assert.equal(after.version, before.version + 1)
}

for (const behaviour of behaviours)
  for (const delayed_capture of [false, true])
    for (const authorisation_mode of ['web', 'agreement'] as const)
      test(`a payment makes only the moves of ${behaviour}, in the mode ${authorisation_mode}, delayed_capture ${delayed_capture}`, () => {
        const cells =
          behaviour === 'specification'
            ? specified(delayed_capture)
            : known(delayed_capture, authorisation_mode)
        const rest = { success_chosen: true, ...(behaviour === 'govuk-pay' && { behaviour }) }
        for (const from of statuses)
          for (const trigger of triggers) {
            const given = { delayed_capture, authorisation_mode }
            const change = advance(samplePayment(from, given, rest), trigger, LATER)
            const move = cells[from]?.[trigger]
            if (!move) assert.equal(change, undefined, `${from} by ${trigger}`)
            else checkMove(change ?? assert.fail(`${from} by ${trigger} is allowed`), move)
          }
      })

test('a payment is captured once, and only before its capture has failed', () => {
  const paid = samplePayment('success', {}, { behaviour: 'govuk-pay' })
  const captured = advance(paid, 'confirm_capture', LATER)?.after ?? assert.fail('not captured')
  assert.equal(captured.captured_at, LATER)
  for (const trigger of ['confirm_capture', 'fail_capture'] as const)
    assert.equal(advance(captured, trigger, LATER), undefined)
})

test('the choice of success is stored, and removed by the next trigger', () => {
  const chosen = advance(samplePayment('started'), 'choose_success', LATER)?.after
  assert.equal(chosen?.success_chosen, true)
  for (const trigger of ['confirm', 'choose_declined', 'cancel'] as const)
    assert.equal(advance(chosen, trigger, LATER)?.after.success_chosen, false, trigger)
})

test('the times of events never decrease, even when the clock is set back', () => {
  const before = samplePayment('started')
  const change = advance(before, 'cancel', CREATED - 5000)
  assert.equal(change?.after.events.at(-1)?.at, before.events.at(-1)?.at)
})
