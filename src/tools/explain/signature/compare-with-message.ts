import type { Pause } from '../../../core/turns.ts'
import { otherKey, rawBody, theDigest, theHeader } from './advice.ts'
import { bodyVariants } from './bodies.ts'
import { differenceOf } from './difference.ts'
import { signatureOf } from './digests.ts'
import { keyVariants, type NamedKey } from './keys.ts'
import { type KnownSignatures, knownSignatures } from './known-signatures.ts'
import { type Mistake, mistakeOfBody, mistakeOfKey, mistakesOfSignature } from './mistakes.ts'
import type { Analysis, Given, SentMessage } from './question.ts'
import {
  COMPUTED,
  HEADER,
  inWords,
  likelyOtherKey,
  match,
  mismatch,
  type Unexplained,
  unexplained,
  withoutCarriageReturns,
} from './result.ts'
import type { Variant } from './variants.ts'

/** Body and key of the message, which are right, and those that were given, if they were. */
type Compared = {
  message: SentMessage
  right: { body: Buffer; key: Buffer }
  given: { body: Buffer | undefined; key: Buffer | undefined }
  otherKeys: readonly NamedKey[]
}

/** Compares what is given with a message of Farthing: its body and its key are right. */
export async function compareWithMessage(
  message: SentMessage,
  question: Given,
  pause: Pause,
): Promise<Analysis> {
  const { header, computed, keys = [] } = question
  const right = { body: message.body, key: Buffer.from(message.signing_key) }
  const given = {
    body: question.body && bodyAsSent(question.body, right.body, question.typed),
    key: question.key === undefined ? undefined : Buffer.from(question.key),
  }
  const compared = { message, right, given, otherKeys: otherKeys(message, keys) }
  const signature = signatureOf(right.body, right.key)
  const mistakes = await mistakesOfGiven(compared, pause)
  if (isOfAnotherMessage(compared, header, mistakes))
    return match('It matches, but the header and the body are not those of the message.')

  const ofSignatures = await mistakesOfSignatures(question, compared, mistakes, pause)
  if (mistakes.length + ofSignatures.length === 0) return noMistake(question, given)
  const isOnlyComputed = mistakes.length === 0 && header === signature
  return {
    ...mismatch(
      [...mistakes, ...ofSignatures],
      isOnlyComputed ? 'The header matches, but ' : 'It does not match: ',
      computed === signature ? 'What your code computed is right.' : '',
    ),
    ...(ofSignatures.some(({ isOfKey }) => isOfKey) && { keyToCompare: message }),
    ...(given.body &&
      mistakes.some(({ cause }) => cause === 'body:unknown') && {
        difference: differenceOf(right.body, given.body),
      }),
  }
}

/** A browser has changed the line ends of a body that was typed, unless the body had these. */
const bodyAsSent = (body: Buffer, right: Buffer, typed: boolean | undefined): Buffer =>
  typed && !body.equals(right) ? withoutCarriageReturns(body) : body

/** The keys of the other webhooks, which may have the same name. */
const otherKeys = ({ signing_key, webhook }: SentMessage, keys: readonly NamedKey[]): NamedKey[] =>
  keys
    .filter(({ key }) => key !== signing_key)
    .map(({ name, key }) => ({
      key,
      name: name === webhook ? `another webhook that is named ${name} too` : name,
    }))

async function mistakesOfGiven(
  { message, right, given, otherKeys }: Compared,
  pause: Pause,
): Promise<Mistake[]> {
  const { body, key } = given
  const mistakes: Mistake[] = []
  if (body && !body.equals(right.body)) mistakes.push(await mistakeOfBody(body, right.body, pause))
  if (key && !key.equals(right.key))
    mistakes.push(mistakeOfKey(key, right.key, otherKeys, message.webhook))
  return mistakes
}

/** What the receiver's code computes if body and key are those that were given. */
const signatureOfGiven = ({ right, given }: Compared): string =>
  signatureOf(given.body ?? right.body, given.key ?? right.key)

const isOfAnotherMessage = (
  compared: Compared,
  header: string | undefined,
  mistakes: readonly Mistake[],
): boolean =>
  header === signatureOfGiven(compared) &&
  mistakes.some(({ cause }) => cause === 'body:unknown') &&
  mistakes.every(({ cause }) => cause === 'body:unknown' || cause === 'key:other-webhook')

/** The mistakes of whoever made the header, and of the receiver's code, that are not those of the given body and key. */
async function mistakesOfSignatures(
  { header, computed, apiKeys = [], messages = [] }: Given,
  compared: Compared,
  ofGiven: readonly Mistake[],
  pause: Pause,
): Promise<Mistake[]> {
  const { message, right, given, otherKeys } = compared
  const explained = [signatureOf(right.body, right.key), signatureOfGiven(compared)]
  const known = ofGiven.map(({ cause }) => cause)
  let signatures: KnownSignatures | undefined
  const mistakesOf = async (subject: string, text: string | undefined): Promise<Mistake[]> => {
    if (text === undefined || explained.includes(text)) return []
    explained.push(text)
    signatures ??= await knownSignatures(
      () => withGiven(bodyVariants(right.body), given.body),
      [...withGiven(keyVariants(right.key, { webhooks: otherKeys, api: apiKeys }), given.key)],
      pause,
    )
    const found = await signatures.find(text, pause)
    if (found) return mistakesOfSignature(found, { subject, owner: message.webhook, known })
    const follows = ofGiven.length > 0 && given.key ? NOTHING : whatFollows(subject, compared)
    return [unexplained(subject, text, { messages, isPartial: signatures.isPartial(), ...follows })]
  }
  return [...(await mistakesOf(HEADER, header)), ...(await mistakesOf(COMPUTED, computed))]
}

const NOTHING = { likely: '', advice: [rawBody, theDigest] }

/** What is likely, and what to change, where no known mistake explains a signature. Only what was given is known to be right. */
function whatFollows(
  subject: string,
  { message, given }: Compared,
): Pick<Unexplained, 'likely' | 'advice' | 'isOfKey'> {
  if (given.body && given.key)
    return {
      likely: 'Key and body are right.',
      advice: [subject === HEADER ? theHeader : theDigest],
    }
  if (given.key)
    return { likely: 'The key is right, so most likely the body is not.', advice: [rawBody] }
  if (subject === HEADER)
    return {
      likely: 'It is the header of another message, or it was changed on its way.',
      advice: [theHeader],
    }
  return {
    likely: likelyOtherKey(message.signing_key, message.webhook),
    advice: [otherKey, rawBody],
    isOfKey: true,
  }
}

function* withGiven(variants: Iterable<Variant>, value: Buffer | undefined): Generator<Variant> {
  yield* variants
  if (value) yield { cause: 'given', words: 'given', advice: rawBody, value }
}

function noMistake({ header, computed }: Given, given: Compared['given']): Analysis {
  const names = [
    ...(header === undefined ? [] : [HEADER]),
    ...(computed === undefined ? [] : [COMPUTED]),
    ...(given.key ? ['the key'] : []),
    ...(given.body ? ['the body'] : []),
  ]
  const right = `${inWords(names)} ${names.length === 1 ? 'is' : 'are'} right.`
  if (header !== undefined || computed !== undefined) return match(`It matches: ${right}`)
  return {
    verdict: 'no-mistake',
    sentence: `No known mistake: ${right.replace('the key and the body', 'key and body')}`,
    causes: [],
    advice: [],
  }
}
