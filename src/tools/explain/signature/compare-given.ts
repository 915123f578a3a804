import { apiKey, otherKey, rawBody } from './advice.ts'
import type { Analysis, BodyAndKey, Given } from './analyse.ts'
import { bodyVariants, isPrinted } from './bodies.ts'
import { signatureOf } from './digests.ts'
import { find } from './find.ts'
import { isApiKey, isSigningKey, keyVariants } from './keys.ts'
import { type Mistake, mistakeOfBody, mistakeOfKey, mistakesOfSignature } from './mistakes.ts'
import { COMPUTED, HEADER, match, mismatch, unexplained, withoutCarriageReturns } from './result.ts'
import { AS_IS } from './variants.ts'

type GivenAll = Given & BodyAndKey
type Truth = { body: Buffer; key: Buffer }

const MATCHES = 'It matches: these bytes, this key, this signature.'

/**
 * Compares what is given where no message is known. A body or a key in the form that Farthing gives it is right, and
 * the header was made wrongly; of others the header is right.
 */
export function compareGiven(question: GivenAll): Analysis {
  const { body, header, typed } = question
  const key = Buffer.from(question.key)
  if (header === undefined) return compareComputed(question, { body, key }, 'It does not match: ')
  if (header === signatureOf(body, key)) {
    const sentence =
      typed && body.includes('\r\n') ? 'It matches, with CRLF at the ends of the lines.' : MATCHES
    return compareComputed(question, { body, key }, 'The header matches, but ', sentence)
  }
  const asSent = typed ? withoutCarriageReturns(body) : body
  if (header === signatureOf(asSent, key))
    return compareComputed(
      question,
      { body: asSent, key },
      'The header matches, but ',
      'It matches, with the line ends of the text as LF. The form made them CRLF.',
    )
  return explainHeader({ ...question, body: asSent }, key, header)
}

/** Compares what the code computed with the signature of the true body with the true key. */
function compareComputed(
  question: GivenAll,
  truth: Truth,
  start: string,
  sentence = MATCHES,
): Analysis {
  const { computed } = question
  if (computed === undefined || computed === signatureOf(truth.body, truth.key))
    return match(sentence)
  return mismatch(mistakesOfComputed(question, truth, computed, []), start)
}

function mistakesOfComputed(
  { keys = [], apiKeys = [], messages = [] }: GivenAll,
  { body, key }: Truth,
  computed: string,
  known: readonly string[],
): Mistake[] {
  const webhooks = keys.filter(other => !key.equals(Buffer.from(other.key)))
  const found = find(computed, bodyVariants(body), keyVariants(key, { webhooks, api: apiKeys }))
  if (!found) return [unexplained(COMPUTED, computed, messages, [rawBody, otherKey])]
  const owner = keys.find(each => key.equals(Buffer.from(each.key)))?.name
  return mistakesOfSignature(found, { subject: COMPUTED, owner, known })
}

function explainHeader(question: GivenAll, key: Buffer, header: string): Analysis {
  const { body, computed, keys = [], apiKeys = [] } = question
  const found = find(header, bodyVariants(body), keyVariants(key, { webhooks: keys, api: apiKeys }))
  if (!found) return unknown(question, header)
  const isBodyRight = isPrinted(body)
  const isKeyRight = found.key.cause !== 'other-webhook' && isSigningKey(question.key)
  const truth = {
    body: isBodyRight ? body : found.body.value,
    key: isKeyRight ? key : found.key.value,
  }
  const owner = keys.find(each => truth.key.equals(Buffer.from(each.key)))?.name
  const others = keys.filter(each => !truth.key.equals(Buffer.from(each.key)))
  const given = [
    ...(body.equals(truth.body) ? [] : [mistakeOfBody(body, truth.body)]),
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
    mistakes.push(...mistakesOfComputed(question, truth, computed, known))
  }
  const end = computed === right ? ' What your code computed is right.' : ''
  return mismatch(mistakes, 'It does not match: ', end)
}

function unknown({ key, messages = [] }: GivenAll, header: string): Analysis {
  if (isApiKey(key)) {
    const words = 'the key given is an API key, which signs nothing'
    return mismatch(
      [{ cause: 'key:api-key', words, advice: [apiKey] }],
      'It does not match: ',
      ' Use the signing_key of the webhook.',
    )
  }
  const mistake = unexplained(HEADER, header, messages, [rawBody, otherKey])
  const isUnknown = mistake.cause === 'unknown'
  return mismatch(
    [mistake],
    'It does not match: ',
    isUnknown ? ' The key or the body is of another webhook or another message.' : '',
  )
}
