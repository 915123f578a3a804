/** Explains the answer of a receiver to a message that was sent by hand with a wrong signature on purpose. */

import { isSuccess } from '../../core/http-status.ts'
import type { ByHand } from '../record/exchange.ts'
import { type AttemptEnding, causeOf } from './causes.ts'

export const ACCEPTED_WRONG = 'Your receiver accepted a message whose signature is wrong.'

export const ACCEPTED_ADVICE =
  'Before you use a message, compare its header Pay-Signature with the HMAC-SHA256 of the bytes as they arrived, in lower-case hexadecimal, and answer 401 if they differ or there is no header. If your receiver answers 2xx and ignores such a message, its log should say so.'

/** Statuses with which a receiver refuses a signature. Others, such as 404, say nothing about it. */
export const isSignatureRefusal = (status: number | null): boolean =>
  status === 400 || status === 401 || status === 403

const isWrong = ({ damage, other_key }: ByHand): boolean =>
  damage !== undefined || other_key === true

/**
 * undefined if the signature was right, or nothing follows from the response: a refusal says something only about a
 * receiver that accepts the undamaged message.
 */
export function answerToWrong({ status, by_hand }: Pick<AttemptEnding, 'status' | 'by_hand'>) {
  if (!by_hand || !isWrong(by_hand)) return undefined
  if (isSuccess(status)) return 'accepted'
  return isSignatureRefusal(status) && by_hand.undamaged === 'accepted' ? 'refused' : undefined
}

/** The consequence of an attempt, in one or two sentences. undefined for one that succeeded. */
export function consequenceOf(ending: AttemptEnding): string | undefined {
  const { status, by_hand } = ending
  const answer = answerToWrong(ending)
  if (answer === 'accepted') {
    const isCopy = by_hand?.kind === 'asked'
    return `${ACCEPTED_WRONG} ${isCopy ? 'The page of the message says what that means.' : ACCEPTED_ADVICE}`
  }
  if (answer === 'refused') return 'Your receiver refused it, as it must.'
  // A copy of *Ask the receiver* is expected to be refused, and the page of the message shows the conclusion.
  if (!by_hand || by_hand.kind === 'asked' || !isWrong(by_hand) || !isSignatureRefusal(status))
    return causeOf(ending)
  return by_hand.undamaged === 'refused'
    ? 'It refuses the undamaged message too, so this says nothing. Mend that first.'
    : 'Whether it accepts the undamaged message is not known, so this says nothing. Send that first.'
}
