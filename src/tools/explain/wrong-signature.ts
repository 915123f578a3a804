/** What a receiver made of a message that was sent by hand with a signature that is wrong on purpose. */

import { isSuccess } from '../../core/http-status.ts'
import type { ByHand } from '../record/exchange.ts'

export const ACCEPTED_WRONG = 'Your receiver accepted a message whose signature is wrong.'

export const ACCEPTED_ADVICE =
  'Before you use a message, compare its header Pay-Signature with the HMAC-SHA256 of the bytes as they arrived, in lower-case hexadecimal, and answer 401 if they differ or there is no header. If your receiver answers 2xx and ignores such a message, its log should say so.'

export const REFUSED_WRONG = 'Your receiver refused it, as it must.'

/** With these a receiver refuses a signature. Others, such as 404, say nothing about it. */
export const isSignatureRefusal = (status: number | null): boolean =>
  status === 400 || status === 401 || status === 403

/** `status` is that of the response; null without one. undefined if the signature was right, or nothing follows from the response. */
export function answerToWrong(
  byHand: ByHand | undefined,
  status: number | null,
): 'accepted' | 'refused' | undefined {
  if (!byHand || status === null || (byHand.damage === undefined && !byHand.other_key))
    return undefined
  if (isSuccess(status)) return 'accepted'
  return isSignatureRefusal(status) ? 'refused' : undefined
}
