import type { Pause } from '../../../core/turns.ts'
import { apiKey, otherKey, rawBody, theDigest } from './advice.ts'
import { bodyVariants, isPrinted } from './bodies.ts'
import { signatureOf } from './digests.ts'
import { isApiKey, isSigningKey, keyVariants } from './keys.ts'
import { type Found, knownSignatures } from './known-signatures.ts'
import { type Mistake, mistakeOfBody, mistakeOfKey, mistakesOfSignature } from './mistakes.ts'
import type { Analysis, BodyAndKey, Given } from './question.ts'
import { COMPUTED, HEADER, match, mismatch, unexplained, withoutCarriageReturns } from './result.ts'
import { AS_IS, type Variant } from './variants.ts'

type GivenAll = Given & BodyAndKey
type Truth = { body: Buffer; key: Buffer }

const MATCHES = 'It matches: these bytes, this key, this signature.'

const KEY_OR_BODY =
  "Most likely the key given is not that of the webhook: compare the length and the last four characters with those of the webhook's signing_key. Or the body is that of another message."
const PROVEN = 'Key and body are right.'

/**
 * Compares what is given where no message is known. A body or a key in the form that Farthing gives it is right, and
 * the header was made wrongly; of others the header is right.
 */
export async function compareGiven(question: GivenAll, pause: Pause): Promise<Analysis> {
  const { body, header, typed } = question
  const key = Buffer.from(question.key)
  const asSent = typed ? withoutCarriageReturns(body) : body
  const ofHeader = { start: 'The header matches, but ', likely: PROVEN }
  if (header === undefined)
    return compareComputed(
      question,
      { body, key },
      { start: 'It does not match: ', matches: MATCHES, likely: KEY_OR_BODY },
      pause,
    )
  if (header === signatureOf(body, key)) {
    const matches =
      typed && body.includes('\r\n') ? 'It matches, with CRLF at the ends of the lines.' : MATCHES
    return compareComputed(question, { body, key }, { ...ofHeader, matches }, pause)
  }
  if (header === signatureOf(asSent, key)) {
    const matches = 'It matches, with the line ends of the text as LF. The form made them CRLF.'
    return compareComputed(question, { body: asSent, key }, { ...ofHeader, matches }, pause)
  }
  return explainHeader({ ...question, body: asSent }, key, header, pause)
}

/** Compares what the code computed with the signature of the true body with the true key. */
async function compareComputed(
  question: GivenAll,
  truth: Truth,
  { start, matches, likely }: { start: string; matches: string; likely: string },
  pause: Pause,
): Promise<Analysis> {
  const { computed } = question
  if (computed === undefined || computed === signatureOf(truth.body, truth.key))
    return match(matches)
  const mistakes = await mistakesOfComputed(question, truth, { computed, known: [], likely }, pause)
  return mismatch(mistakes, start)
}

async function mistakesOfComputed(
  { keys = [], apiKeys = [], messages = [] }: GivenAll,
  { body, key }: Truth,
  { computed, known, likely }: { computed: string; known: readonly string[]; likely: string },
  pause: Pause,
): Promise<Mistake[]> {
  const webhooks = keys.filter(other => !key.equals(Buffer.from(other.key)))
  const variants = keyVariants(key, { webhooks, api: apiKeys })
  const signatures = await knownSignatures(() => bodyVariants(body), variants, pause)
  const found = await signatures.find(computed, pause)
  if (!found) {
    const advice = likely === PROVEN ? [theDigest] : [otherKey, rawBody]
    const isPartial = signatures.isPartial()
    return [unexplained(COMPUTED, computed, { messages, isPartial, likely, advice })]
  }
  const owner = keys.find(each => key.equals(Buffer.from(each.key)))?.name
  return mistakesOfSignature(found, { subject: COMPUTED, owner, known })
}

async function explainHeader(
  question: GivenAll,
  key: Buffer,
  header: string,
  pause: Pause,
): Promise<Analysis> {
  const { body, computed, keys = [], apiKeys = [] } = question
  const variants = keyVariants(key, { webhooks: keys, api: apiKeys })
  const signatures = await knownSignatures(() => bodyVariants(body), variants, pause)
  const found = await signatures.find(header, pause)
  if (!found) return unknown(question, header, signatures.isPartial())
  const isBodyRight = isPrinted(body)
  const isKeyRight = found.key.cause !== 'other-webhook' && isSigningKey(question.key)
  const truth = {
    body: isBodyRight ? body : bytesOf(found.body, bodyVariants(body)),
    key: isKeyRight ? key : bytesOf(found.key, variants),
  }
  const owner = keys.find(each => truth.key.equals(Buffer.from(each.key)))?.name
  const others = keys.filter(each => !truth.key.equals(Buffer.from(each.key)))
  const given = [
    ...(body.equals(truth.body) ? [] : [await mistakeOfBody(body, truth.body, pause)]),
    ...(key.equals(truth.key) ? [] : [mistakeOfKey(key, truth.key, others, owner)]),
  ]
  const ofHeader = mistakesOfSignature(
    {
      body: isBodyRight ? found.body : { ...found.body, cause: AS_IS },
      key: isKeyRight ? found.key : { ...found.key, cause: AS_IS },
      digest: found.digest,
    },
    { subject: HEADER, owner, known: [] },
  )
  const mistakes = [...given, ...ofHeader]
  const right = signatureOf(truth.body, truth.key)
  // The code signed the given body with the given key, so its mistakes are the same.
  const isExplained = [header, right, signatureOf(body, key)].some(text => text === computed)
  if (computed !== undefined && !isExplained) {
    const known = mistakes.map(({ cause }) => cause)
    mistakes.push(
      ...(await mistakesOfComputed(question, truth, { computed, known, likely: '' }, pause)),
    )
  }
  const end = computed === right ? 'What your code computed is right.' : ''
  return mismatch(mistakes, 'It does not match: ', end)
}

/** The bytes that were found, which are made once more. */
function bytesOf(found: Found['body'], variants: Iterable<Variant>): Buffer {
  for (const { cause, words, value } of variants)
    if (value && cause === found.cause && words === found.words) return value
  throw new Error(`the variant ${found.cause} cannot be made again`)
}

function unknown({ key, messages = [] }: GivenAll, header: string, isPartial: boolean): Analysis {
  if (isApiKey(key)) {
    const words = 'the key given is an API key, which signs nothing'
    return mismatch(
      [{ cause: 'key:api-key', words, advice: [apiKey] }],
      'It does not match: ',
      'Use the signing_key of the webhook.',
    )
  }
  const advice = [otherKey, rawBody]
  const likely = KEY_OR_BODY
  return mismatch(
    [unexplained(HEADER, header, { messages, isPartial, likely, advice })],
    'It does not match: ',
  )
}
