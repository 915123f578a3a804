/** Differences in how a payment moves from state to state, and in the effect of time. */
import { DAY, MINUTE, SECOND } from '../../core/time.ts'
import { difference } from './difference.ts'
import { documented, inCode } from './source.ts'

export const cardAuthorisedBy = difference<'confirm' | 'choice'>({
  subject: 'A web payment whose user has not confirmed it',
  specification: 'It is started, and becomes submitted and success at Confirm',
  govukPay:
    'It is submitted once the card is entered: its user can confirm or cancel it, the API can cancel it, and next_url leads to the page to confirm it',
  source: inCode('connector', 'common/model/domain/PaymentGatewayStateTransitions.java', '176-182'),
  noRule: 'the read looks the same',
  decides: { specification: 'confirm', 'govuk-pay': 'choice' },
})

/** Milliseconds after the creation, but `sinceChange` after the last change. */
type Expiry = { open: number; sinceChange: number; capturable: number }

export const expiry = difference<Expiry | undefined>({
  subject: 'A payment that nobody finishes',
  specification: 'It stays open until it is deleted after 7 days',
  govukPay:
    'After 90 minutes, and 5 minutes after its last change, it is failed with P0020; after 5 days if it is capturable',
  source: inCode('connector settings', 'config.yaml', '276-279'),
  noRule: 'no request causes it',
  decides: {
    specification: undefined,
    'govuk-pay': { open: 90 * MINUTE, sinceChange: 5 * MINUTE, capturable: 5 * DAY },
  },
})

/** Milliseconds from the creation to the authorisation; undefined: in the same step. */
export const chargeDelay = difference<number | undefined>({
  subject: 'A payment with an agreement',
  specification: 'It is success in the answer to its creation',
  govukPay:
    'It is created in that answer and in searches, then started, and success or failed after some seconds. It cannot be cancelled before that, and does not expire',
  source: inCode('connector', 'charge/resource/ChargesApiResource.java', '183-188'),
  noRule: 'the create looks the same',
  decides: { specification: undefined, 'govuk-pay': 2 * SECOND },
})

export const declineMayBeRetried = difference({
  subject: 'A declined payment with an agreement, if a plan does not say can_retry',
  specification: 'It has can_retry true, and the agreement stays active',
  govukPay: 'It has can_retry false, and the agreement becomes inactive',
  source: inCode('connector', 'gateway/sandbox/SandboxGatewayResponseGenerator.java', '116-120'),
  noRule: 'only a plan declines',
  decides: { specification: true, 'govuk-pay': false },
})

/** Whether a moto_api payment is started before its card is authorised. */
export const cardStarts = difference({
  subject: 'The events of a moto_api payment',
  specification: 'They are created, started, submitted and success',
  govukPay: 'They are the same without started',
  source: inCode('connector', 'common/model/domain/PaymentGatewayStateTransitions.java', '133'),
  decides: { specification: true, 'govuk-pay': false },
})

/** Milliseconds from success to the capture. Farthing chose the number: GOV.UK Pay reads a queue every second. */
export const captureDelay = difference({
  subject: 'The capture',
  specification: 'A payment is captured as it becomes success',
  govukPay:
    'It comes some seconds after success: until then settlement_summary is empty, refund_summary is pending or unavailable, and a refund is refused with 400 P0603',
  source: inCode(
    'connector',
    'gateway/util/DefaultExternalRefundAvailabilityCalculator.java',
    '32-80',
  ),
  rule: {
    id: 'P20',
    level: 'note',
    advice:
      'Refund a payment only once refund_summary.status is available, and treat P0603 as not yet.',
    among: { operation: 'refundPayment', lacking: 'No refund was made.' },
    answer: (delay, { sinceSuccess }) => sinceSuccess < delay,
  },
  decides: { specification: 0, 'govuk-pay': 5 * SECOND },
})

export const secondCapture = difference<'refused' | 'accepted'>({
  subject: 'A second capture',
  specification: 'It is refused with 409 P1003',
  govukPay:
    'It is 204 without effect, unless the payment is moto_api or with an agreement, without delayed_capture, and not captured yet. Its 409 means that the payment is cancelled, expired or not yet paid',
  source: inCode('connector', 'charge/service/DelayedCaptureService.java', '55-72'),
  rule: {
    id: 'P7',
    level: 'note',
    advice:
      'On a 409 read the payment: it is captured only if its status is success. Hand out nothing before.',
    among: { operation: 'capturePayment', lacking: 'No captured payment was captured again.' },
    whenever: true,
    answer: (decided, { refusal }) =>
      refusal?.code === 'P1003' && /\bsuccess$/.test(refusal.message) && decided,
  },
  decides: { specification: 'refused', 'govuk-pay': 'accepted' },
})

export const eventsOfRefunds = difference<'absent' | 'listed'>({
  subject: 'Refunds in the events of a payment',
  specification: 'They are not listed',
  govukPay:
    'Each has submitted and success, by time; the submitted of a second refund of the same amount is missing',
  source: inCode('connector', 'chargeevent/resource/ChargeEventsResource.java', '93-140'),
  decides: { specification: 'absent', 'govuk-pay': 'listed' },
})

export const refundMessage = difference<'when it is made' | 'at its end'>({
  subject: 'The message about a refund that stays submitted, or fails',
  specification: 'It is sent when the refund is submitted',
  govukPay: 'It is sent once the refund has succeeded, and not at all if it fails',
  source: inCode('webhooks', 'message/EventMapper.java', '13-28'),
  noRule: 'the refund looks the same',
  decides: { specification: 'when it is made', 'govuk-pay': 'at its end' },
})

/** Milliseconds for which a payment is kept after its creation. */
export const keptFor = difference({
  subject: 'How long a payment can be read',
  specification: '7 days',
  govukPay: 'For 7 years. With this behaviour Farthing keeps it for 180 days',
  source: documented('reporting/#find-payments'),
  noRule: 'no request shows it',
  decides: { specification: 7 * DAY, 'govuk-pay': 180 * DAY },
})
