/** Compares what somebody has with a message whose body and key are right, and names the mistakes. */
import type { Pause } from '../../../core/turns.ts'
import { apiKey, otherKey, rawBody, theDigest, theHeader, type Variant } from './advice.ts'
import { bodyVariants, isPrinted } from './bodies.ts'
import { signatureOf } from './digests.ts'
import { isApiKey, isSigningKey, keyVariants, type NamedKey, otherKeys } from './keys.ts'
import { type KnownSignatures, knownSignatures, type Recipe } from './known-signatures.ts'
import {
  COMPUTED,
  HEADER,
  inWords,
  likelyOtherKey,
  type Mistake,
  match,
  mismatch,
  mistakeOfBody,
  mistakeOfKey,
  mistakesOfSignature,
  type Unexplained,
  unexplained,
  withoutCarriageReturns,
} from './mistakes.ts'
import {
  type Analysis,
  type BodyAndKey,
  differenceOf,
  type Input,
  type SentMessage,
} from './question.ts'

type Compared = Pick<Input, 'header' | 'computed' | 'apiKeys' | 'messages'> & {
  /** Body and key that are right. */
  right: { body: Buffer; key: Buffer }
  /** Those of the receiver, if they are known. */
  receiver: { body?: Buffer | undefined; key?: Buffer | undefined }
  /** The name of the webhook with the right key. */
  owner: string | undefined
  otherKeys: readonly NamedKey[]
  /** What follows where no known mistake explains a signature, beside those of body and key. */
  follow: (
    subject: string,
    ofReceiver: readonly Mistake[],
  ) => Pick<Unexplained, 'likely' | 'advice' | 'isOfKey'>
}

const DOES_NOT_MATCH = 'It does not match: '
const HEADER_MATCHES = 'The header matches, but '
const PROVEN = 'Key and body are right.'

/** A message of Farthing: its body and its key are right. */
export async function compareWithMessage(
  message: SentMessage,
  input: Input,
  pause: Pause,
): Promise<Analysis> {
  const { keys = [], ...rest } = input
  const right = { body: message.body, key: Buffer.from(message.signing_key) }
  const receiver = {
    body: rest.body && bodyAsSent(rest.body, right.body, rest.typed),
    key: rest.key === undefined ? undefined : Buffer.from(rest.key),
  }
  const compared: Compared = {
    ...rest,
    right,
    receiver,
    owner: message.webhook,
    otherKeys: otherKeys(keys, message.signing_key, message.webhook),
    follow: (subject, ofReceiver) =>
      ofReceiver.length > 0 && receiver.key
        ? { likely: '', advice: [rawBody, theDigest] }
        : whatFollows(subject, message, receiver),
  }
  const signature = signatureOf(right.body, right.key)
  const mistakes = await mistakesOfReceiver(compared, pause)
  if (isOfAnotherMessage(compared, mistakes))
    return match('It matches, but the header and the body are not those of the message.')

  const ofSignatures = await mistakesOfSignatures(compared, mistakes, pause)
  if (mistakes.length + ofSignatures.length === 0) return noMistake(input, receiver)
  return {
    ...mismatch(
      [...mistakes, ...ofSignatures],
      mistakes.length === 0 && input.header === signature ? HEADER_MATCHES : DOES_NOT_MATCH,
      endOf(compared),
    ),
    ...(ofSignatures.some(({ isOfKey }) => isOfKey) && { keyToCompare: message }),
    ...(receiver.body &&
      mistakes.some(({ cause }) => cause === 'body:unknown') && {
        difference: differenceOf(right.body, receiver.body),
      }),
  }
}

const endOf = ({ computed, right }: Compared): string =>
  computed === signatureOf(right.body, right.key) ? 'What your code computed is right.' : ''

/** A browser has changed the line ends of a body that was typed, unless the body had these. */
const bodyAsSent = (body: Buffer, right: Buffer, typed: boolean | undefined): Buffer =>
  typed && !body.equals(right) ? withoutCarriageReturns(body) : body

async function mistakesOfReceiver(
  { right, receiver: { body, key }, otherKeys, owner }: Compared,
  pause: Pause,
): Promise<Mistake[]> {
  const mistakes: Mistake[] = []
  if (body && !body.equals(right.body)) mistakes.push(await mistakeOfBody(body, right.body, pause))
  if (key && !key.equals(right.key)) mistakes.push(mistakeOfKey(key, right.key, otherKeys, owner))
  return mistakes
}

/** What the receiver's code computes with its body and its key. */
const signatureOfReceiver = ({ right, receiver }: Compared): string =>
  signatureOf(receiver.body ?? right.body, receiver.key ?? right.key)

const isOfAnotherMessage = (compared: Compared, mistakes: readonly Mistake[]): boolean =>
  compared.header === signatureOfReceiver(compared) &&
  mistakes.some(({ cause }) => cause === 'body:unknown') &&
  mistakes.every(({ cause }) => cause === 'body:unknown' || cause === 'key:other-webhook')

/** The mistakes of whoever made the header, and of the receiver's code, that are not those of its body and its key. */
async function mistakesOfSignatures(
  compared: Compared,
  ofReceiver: readonly Mistake[],
  pause: Pause,
): Promise<Mistake[]> {
  const { right, receiver, otherKeys, apiKeys = [], messages = [], owner } = compared
  const explained = [signatureOf(right.body, right.key), signatureOfReceiver(compared)]
  const except = ofReceiver.map(({ cause }) => cause)
  let signatures: KnownSignatures | undefined
  const mistakes: Mistake[] = []
  for (const [subject, text] of [
    [HEADER, compared.header],
    [COMPUTED, compared.computed],
  ] as const) {
    if (text === undefined || explained.includes(text)) continue
    explained.push(text)
    signatures ??= await knownSignatures(
      () => withOneMore(bodyVariants(right.body), receiver.body),
      [...withOneMore(keyVariants(right.key, { webhooks: otherKeys, api: apiKeys }), receiver.key)],
      pause,
    )
    const recipe = await signatures.find(text, pause)
    if (recipe) mistakes.push(...mistakesOfSignature(recipe, { subject, owner, except }))
    else {
      const follows = compared.follow(subject, ofReceiver)
      const isPartial = signatures.isPartial()
      mistakes.push(unexplained(subject, text, { messages, isPartial, ...follows }))
    }
  }
  return mistakes
}

/** Only what is given is known to be right. */
function whatFollows(
  subject: string,
  { signing_key, webhook }: SentMessage,
  { body, key }: Compared['receiver'],
): Pick<Unexplained, 'likely' | 'advice' | 'isOfKey'> {
  if (body && key) return { likely: PROVEN, advice: [subject === HEADER ? theHeader : theDigest] }
  if (key) return { likely: 'The key is right, so most likely the body is not.', advice: [rawBody] }
  if (subject === HEADER)
    return {
      likely: 'It is the header of another message, or it was changed on its way.',
      advice: [theHeader],
    }
  return {
    likely: likelyOtherKey(signing_key, webhook),
    advice: [otherKey],
    isOfKey: true,
  }
}

function* withOneMore(variants: Iterable<Variant>, value: Buffer | undefined): Generator<Variant> {
  yield* variants
  if (value) yield { cause: 'given', words: 'given', advice: rawBody, value }
}

function noMistake({ header, computed }: Input, { body, key }: Compared['receiver']): Analysis {
  const names = [
    ...(header === undefined ? [] : [HEADER]),
    ...(computed === undefined ? [] : [COMPUTED]),
    ...(key ? ['the key'] : []),
    ...(body ? ['the body'] : []),
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

const MATCHES = 'It matches: these bytes, this key, this signature.'
const KEY_OR_BODY =
  "Most likely the key given is not that of the webhook: compare the length and the last four characters with those of the webhook's signing_key. Or the body is that of another message."

/**
 * Where no message is known: a body or a key in the form that Farthing gives it is right, and the header was made
 * wrongly; of others the header is right.
 */
export async function compareWithoutMessage(
  input: Input & BodyAndKey,
  pause: Pause,
): Promise<Analysis> {
  const { body, header, typed } = input
  const key = Buffer.from(input.key)
  const asSent = typed ? withoutCarriageReturns(body) : body
  const follow = { likely: KEY_OR_BODY, advice: [otherKey] }
  const proven = { likely: PROVEN, advice: [theDigest] }
  const compareComputed = async (
    right: Compared['right'],
    [start, matches]: [start: string, matches: string],
    follows: typeof follow,
  ): Promise<Analysis> => {
    const compared = { ...withoutHeader(input, right), follow: () => follows }
    const mistakes = await mistakesOfSignatures(compared, [], pause)
    return mistakes.length === 0 ? match(matches) : mismatch(mistakes, start)
  }
  if (header === undefined) return compareComputed({ body, key }, [DOES_NOT_MATCH, MATCHES], follow)
  if (header === signatureOf(body, key)) {
    const matches =
      typed && body.includes('\r\n') ? 'It matches, with CRLF at the ends of the lines.' : MATCHES
    return compareComputed({ body, key }, [HEADER_MATCHES, matches], proven)
  }
  if (header === signatureOf(asSent, key)) {
    const matches = 'It matches, with the line ends of the text as LF. The form made them CRLF.'
    return compareComputed({ body: asSent, key }, [HEADER_MATCHES, matches], proven)
  }
  return explainHeader({ ...input, body: asSent }, key, header, pause)
}

/** As if there was a message with this body and this key. */
function withoutHeader(
  { computed, apiKeys, messages, keys = [] }: Input,
  right: Compared['right'],
): Omit<Compared, 'follow'> {
  const isRight = ({ key }: NamedKey) => right.key.equals(Buffer.from(key))
  return {
    computed,
    apiKeys,
    messages,
    right,
    receiver: {},
    owner: keys.find(isRight)?.name,
    otherKeys: keys.filter(each => !isRight(each)),
  }
}

async function explainHeader(
  input: Input & BodyAndKey,
  key: Buffer,
  header: string,
  pause: Pause,
): Promise<Analysis> {
  const { body, keys = [], apiKeys = [] } = input
  const variants = keyVariants(key, { webhooks: keys, api: apiKeys })
  const signatures = await knownSignatures(() => bodyVariants(body), variants, pause)
  const recipe = await signatures.find(header, pause)
  if (!recipe) return unknown(input, header, signatures.isPartial())
  const isKeyRight = recipe.key.cause !== 'other-webhook' && isSigningKey(input.key)
  const right = {
    body: isPrinted(body) ? body : bytesOf(recipe.body, bodyVariants(body)),
    key: isKeyRight ? key : bytesOf(recipe.key, variants),
  }
  const compared: Compared = {
    ...withoutHeader(input, right),
    header,
    receiver: { body, key },
    follow: () => ({ likely: '', advice: [otherKey, rawBody] }),
  }
  const mistakes = await mistakesOfReceiver(compared, pause)
  mistakes.push(...(await mistakesOfSignatures(compared, mistakes, pause)))
  return mismatch(mistakes, DOES_NOT_MATCH, endOf(compared))
}

/** The bytes that were found, which are made once more. */
function bytesOf(recipe: Recipe['body'], variants: Iterable<Variant>): Buffer {
  for (const { cause, words, value } of variants)
    if (value && cause === recipe.cause && words === recipe.words) return value
  throw new Error(`the variant ${recipe.cause} cannot be made again`)
}

function unknown({ key, messages = [] }: Input & BodyAndKey, header: string, isPartial: boolean) {
  if (isApiKey(key)) {
    const words = 'the key given is an API key, which signs nothing'
    const mistake = { cause: 'key:api-key', words, advice: [apiKey] }
    return mismatch([mistake], DOES_NOT_MATCH, 'Use the signing_key of the webhook.')
  }
  const follows = { likely: KEY_OR_BODY, advice: [otherKey] }
  return mismatch(
    [unexplained(HEADER, header, { messages, isPartial, ...follows })],
    DOES_NOT_MATCH,
  )
}
