/** The states between which each trigger moves a payment, under each behaviour. */
import type { Behaviour } from '../../core/account.ts'
import { type Decision, underEach } from '../differences/difference.ts'
import {
  captureDelay,
  cardAuthorisedBy,
  cardStarts,
  chargeDelay,
  expiry,
} from '../differences/states.ts'
import type { AuthorisationMode, FailureCode, Status } from './payment.ts'

type Transition = {
  from: Status
  /** The statuses in order; the payment keeps the last. "authorised" is success, or capturable with delayed_capture. */
  through: (Status | 'authorised')[]
  code?: FailureCode
  /**
   * The card that the trigger submits: the mock card of the hosted pages, or the card passed to `advance`, which is the
   * card of POST /v1/auth or of the agreement.
   */
  submits?: 'mock' | 'passed'
  /** Only after the user chose success on the first page. */
  chosen?: true
  /** `only`: only payments of this mode. `but`: only payments of other modes. */
  only?: AuthorisationMode
  but?: AuthorisationMode
  /** Only a success that is not captured yet. */
  uncaptured?: true
}

const rows = (from: Status[], row: Omit<Transition, 'from'>): Transition[] =>
  from.map(status => ({ from: status, ...row }))

/** The transitions by which a card or a choice ends the payment. */
const ending = (through: Status[], row: Omit<Transition, 'from' | 'through'>): Transition[] => [
  ...rows(['created'], { through: ['started', ...through], ...row }),
  ...rows(['started'], { through, ...row }),
]

/** The user chooses success on the first page and confirms it on the second. One of the two authorises the card. */
function paidOnPages(behaviour: Behaviour) {
  const byChoice = cardAuthorisedBy[behaviour] === 'choice'
  const open: Status[] = ['created', 'started', ...(byChoice ? (['submitted'] as const) : [])]
  const cancelled = { through: ['cancelled'], code: 'P0040' } satisfies Partial<Transition>
  return {
    choose_success: byChoice ? ending(['submitted'], { submits: 'mock' }) : ending([], {}),
    confirm: byChoice
      ? rows(['submitted'], { through: ['authorised'] })
      : rows(['started'], { through: ['submitted', 'authorised'], submits: 'mock', chosen: true }),
    choose_cancel: rows(open, { through: ['failed'], code: 'P0030' }),
    cancel: [
      ...rows(open, { ...cancelled, ...(byChoice && { but: 'agreement' }) }),
      ...rows(['capturable'], cancelled),
    ],
  }
}

/** The transitions by a card that no user enters on a page: the card of POST /v1/auth or of the agreement. */
function paidByCard(behaviour: Behaviour) {
  const first: Status[] = cardStarts[behaviour] ? ['started'] : []
  const charged = chargeDelay[behaviour] !== undefined
  const by = (through: Transition['through'], code?: FailureCode): Transition[] => {
    const row = { ...(code && { code }), submits: 'passed' } as const
    return [
      ...rows(['created'], { through: [...first, ...through], ...row }),
      ...(charged ? rows(['started'], { through, ...row, only: 'agreement' }) : []),
    ]
  }
  return {
    authorise: by(['submitted', 'authorised']),
    authorise_declined: by(['failed'], 'P0010'),
    authorise_error: by(['error'], 'P0050'),
    queue_charge: charged ? rows(['created'], { through: ['started'], only: 'agreement' }) : [],
  }
}

function ofTime(behaviour: Behaviour) {
  const captured = captureDelay[behaviour] > 0 ? (['success'] as const) : []
  const uncaptured = true
  const expires = {
    through: ['failed'],
    code: 'P0020',
    but: 'agreement',
  } satisfies Partial<Transition>
  return {
    confirm_capture: rows([...captured], { through: [], uncaptured }),
    fail_capture: rows([...captured], { through: ['error'], code: 'P0050', uncaptured }),
    expire: expiry[behaviour]
      ? [
          ...rows(['created', 'started', 'submitted'], expires),
          ...rows(['capturable'], { through: ['failed'], code: 'P0020' }),
        ]
      : [],
  }
}

const tableOf = (behaviour: Behaviour) => ({
  open_page: rows(['created'], { through: ['started'] }),
  ...paidOnPages(behaviour),
  choose_declined: ending(['failed'], { code: 'P0010', submits: 'mock' }),
  choose_error: ending(['error'], { code: 'P0050', submits: 'mock' }),
  ...paidByCard(behaviour),
  capture: rows(['capturable'], { through: ['success'] }),
  ...ofTime(behaviour),
})

export type Trigger = keyof ReturnType<typeof tableOf>

/** Specification, *States and transitions*, row by row, and the rows of GOV.UK Pay. No other transition is allowed. */
export const transitions: Decision<Record<Trigger, Transition[]>> = underEach(tableOf)
