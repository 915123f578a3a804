/**
 * Explains why a signature does not match: it tries the common mistakes with the body, the key and the signature,
 * alone and together, and names the nearest. It stores none of its input.
 */
import { inSlices } from '../../../core/turns.ts'
import { compareWithMessage, compareWithoutMessage } from './compare.ts'
import { signatureOf } from './digests.ts'
import type { Analysis, BodyAndKey, Input, Question, SentMessage } from './question.ts'

/** Body and key have passed `bodyProblem` and `keyProblem`. */
export function analyse(asIs: Question): Promise<Analysis> {
  const question = {
    ...asIs,
    header: withoutName(asIs.header),
    computed: withoutName(asIs.computed),
  }
  return inSlices(async pause => {
    if (question.message) return compareWithMessage(question.message, question, pause)
    const message = messageMeant(question)
    return message
      ? compareWithMessage(message, question, pause)
      : compareWithoutMessage(question, pause)
  })
}

/** A header that was copied with its name. */
const withoutName = (text: string | undefined): string | undefined =>
  text?.replace(/^\s*pay-signature\s*:\s*/i, '')

/** The known message that has the given body, or the given header. */
function messageMeant({ body, key, header, messages = [] }: Input & BodyAndKey) {
  const withBody = messages.filter(message => message.body.equals(body))
  return (
    withBody.find(({ signing_key }) => signing_key === key) ??
    withBody.find(message => isSignatureOf(message, header)) ??
    (withBody.length === 1 ? withBody[0] : undefined) ??
    messages.find(message => isSignatureOf(message, header))
  )
}

const isSignatureOf = ({ body, signing_key }: SentMessage, text: string | undefined): boolean =>
  text === signatureOf(body, Buffer.from(signing_key))
