/**
 * Explains why a signature does not match: it tries the common mistakes with the body, the key and the signature,
 * alone and together, and names the nearest. It stores none of its input.
 */
import { inSlices, type Pause } from '../../../core/turns.ts'
import { signature } from '../../../pay/webhooks/webhook.ts'
import { AS_IS, otherKey, rawBody, theDigest, theHeader, type Variant } from './advice.ts'
import { bodyVariants, isPrinted } from './bodies.ts'
import { isApiKey, isSigningKey, keyVariants, otherKeys } from './keys.ts'
import { type KnownSignatures, knownSignatures, type Recipe } from './known-signatures.ts'
import {
  COMPUTED,
  type Follows,
  HEADER,
  inWords,
  likelyOtherKey,
  type Mistake,
  match,
  mismatch,
  mistakeOfBody,
  mistakeOfKey,
  mistakesOfSignature,
  unexplained,
} from './mistakes.ts'
import {
  type Analysis,
  type BodyAndKey,
  differenceOf,
  type Input,
  type NamedKey,
  type Question,
  type SentMessage,
} from './question.ts'

/** Body and key have passed `bodyProblem` and `keyProblem`. */
export function analyse(asIs: Question): Promise<Analysis> {
  const question = {
    ...asIs,
    header: withoutName(asIs.header),
    computed: withoutName(asIs.computed),
  }
  return inSlices(pause => {
    if (question.message) return compareWithMessage(question.message, question, pause)
    const message = messageMeant(question)
    return message
      ? compareWithMessage(message, question, pause)
      : compareWithoutMessage(question, pause)
  })
}

/** Takes the name off a header that was copied with it. */
const withoutName = (text: string | undefined): string | undefined =>
  text?.replace(/^\s*pay-signature\s*:\s*/i, '')

/** The known message with this body, or with this header. */
function messageMeant({ body, key, header, messages = [] }: Input & BodyAndKey) {
  const withBody = messages.filter(message => message.body.equals(body))
  const isOfHeader = ({ body, signing_key }: SentMessage) => header === signature(body, signing_key)
  return (
    withBody.find(({ signing_key }) => signing_key === key) ??
    withBody.find(isOfHeader) ??
    (withBody.length === 1 ? withBody[0] : undefined) ??
    messages.find(isOfHeader)
  )
}

type Compared = Omit<Input, 'body' | 'key' | 'typed'> & {
  /** The right body and key. */
  right: { body: Buffer; key: Buffer }
  /** The receiver's body and key, if they are known. */
  receiver: { body?: Buffer | undefined; key?: Buffer | undefined }
  /** The name of the webhook with the right key. */
  owner: string | undefined
  /** The analysis if there is no mistake. */
  nothing: Analysis
  /** Consequences of a signature that no known mistake explains, if the receiver's body and key show no mistake. */
  follow: (subject: string) => Follows
}

const DOES_NOT_MATCH = 'It does not match: '
const PROVEN = 'Key and body are right.'

/** Compares with a message of Farthing, whose body and key are right. */
function compareWithMessage(message: SentMessage, input: Input, pause: Pause): Promise<Analysis> {
  const { body, key, typed, ...rest } = input
  const right = { body: message.body, key: Buffer.from(message.signing_key) }
  // A browser changes the line ends of a body that is typed. If the body is right, it had such line ends before.
  const isChanged = body && typed && !body.equals(right.body)
  const receiver = {
    body: isChanged ? withoutCarriageReturns(body) : body,
    key: key === undefined ? undefined : Buffer.from(key),
  }
  const follow = (subject: string) => whatFollows(subject, message, receiver)
  const nothing = noMistake(rest, receiver)
  return compare({ ...rest, right, receiver, owner: message.webhook, nothing, follow }, pause)
}

/** Only values that the user entered are proven right. */
function whatFollows(
  subject: string,
  { signing_key, webhook }: SentMessage,
  { body, key }: Compared['receiver'],
): Follows {
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
    keyToCompare: { signing_key, webhook },
  }
}

function noMistake(
  { header, computed }: Pick<Input, 'header' | 'computed'>,
  { body, key }: Compared['receiver'],
): Analysis {
  const names = [
    header !== undefined && HEADER,
    computed !== undefined && COMPUTED,
    key && 'the key',
    body && 'the body',
  ].filter(value => typeof value === 'string')
  const right = `${inWords(names)} ${names.length === 1 ? 'is' : 'are'} right.`
  if (header !== undefined || computed !== undefined) return match(`It matches: ${right}`)
  return {
    ...match(`No known mistake: ${right.replace('the key and the body', 'key and body')}`),
    verdict: 'no-mistake',
  }
}

async function compare(compared: Compared, pause: Pause): Promise<Analysis> {
  const { right, receiver, header, computed, owner, keys = [] } = compared
  const others = otherKeys(keys, String(right.key), owner)
  const ofReceiver: Mistake[] = []
  if (receiver.body && !receiver.body.equals(right.body))
    ofReceiver.push(await mistakeOfBody({ input: receiver.body, right: right.body }, pause))
  if (receiver.key && !receiver.key.equals(right.key))
    ofReceiver.push(
      await mistakeOfKey({ input: receiver.key, right: right.key }, others, owner, pause),
    )
  const causes = ofReceiver.map(({ cause }) => cause)
  const isOther = causes.includes('body:unknown')
  if (isOther && header === signatureOfReceiver(compared))
    if (causes.every(cause => cause === 'body:unknown' || cause === 'key:other-webhook'))
      return match('It matches, but the header and the body are not those of the message.')
  const ofSignatures = await mistakesOfSignatures(compared, others, ofReceiver, pause)
  const mistakes = [...ofReceiver, ...ofSignatures]
  if (mistakes.length === 0) return compared.nothing
  const rightSignature = signature(right.body, right.key)
  const isHeaderRight = ofReceiver.length === 0 && header === rightSignature
  return {
    ...mismatch(
      mistakes,
      isHeaderRight ? 'The header matches, but ' : DOES_NOT_MATCH,
      computed === rightSignature ? 'What your code computed is right.' : '',
    ),
    ...(receiver.body && isOther && { difference: differenceOf(right.body, receiver.body) }),
  }
}

/** The signature that the receiver's code computes with its body and its key. */
const signatureOfReceiver = ({ right, receiver }: Compared): string =>
  signature(receiver.body ?? right.body, receiver.key ?? right.key)

/** The mistakes of the header and of the receiver's code, except those of the receiver's body and key. */
async function mistakesOfSignatures(
  compared: Compared,
  otherKeys: readonly NamedKey[],
  ofReceiver: readonly Mistake[],
  pause: Pause,
): Promise<Mistake[]> {
  const { right, receiver, apiKeys = [], messages = [], owner } = compared
  const explained = [signature(right.body, right.key), signatureOfReceiver(compared)]
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
      [...withOneMore(keyVariants(right.key, { keys: otherKeys, apiKeys }), receiver.key)],
      pause,
    )
    const recipe = await signatures.find(text, pause)
    const follows =
      except.length > 0 && receiver.key
        ? { likely: '', advice: [rawBody, theDigest] }
        : compared.follow(subject)
    if (recipe) mistakes.push(...mistakesOfSignature(recipe, { subject, owner, except }))
    else {
      const isPartial = signatures.isPartial()
      mistakes.push(unexplained(subject, text, { messages, isPartial }, follows))
    }
  }
  return mistakes
}

/** Adds the receiver's own value to the variants, so that it counts as no further mistake. */
function* withOneMore(variants: Iterable<Variant>, value: Buffer | undefined): Generator<Variant> {
  yield* variants
  if (value) yield { cause: AS_IS, words: 'as it is', advice: rawBody, value }
}

const MATCHES = 'It matches: these bytes, this key, this signature.'
const KEY_OR_BODY: Follows = {
  likely:
    "Most likely the key given is not that of the webhook: compare the length and the last four characters with those of the webhook's signing_key. Or the body is that of another message.",
  advice: [otherKey],
}

/**
 * Compares without a message: a body or a key in Farthing's own form is right, and the header wrong; with any other
 * form the header is right.
 */
async function compareWithoutMessage(input: Input & BodyAndKey, pause: Pause): Promise<Analysis> {
  const { body, header, typed, keys = [], ...rest } = input
  const key = Buffer.from(input.key)
  const asSent = typed ? withoutCarriageReturns(body) : body
  const compareWith = (
    right: Compared['right'],
    nothing: string,
    follows: Follows = { likely: PROVEN, advice: [theDigest] },
    receiver = {},
  ) => {
    const owner = keys.find(known => known.key === String(right.key))?.name
    const follow = () => follows
    const compared = { ...rest, header, keys, right, receiver, owner, follow }
    return compare({ ...compared, nothing: match(nothing) }, pause)
  }
  if (header === undefined) return compareWith({ body, key }, MATCHES, KEY_OR_BODY)
  const isCrlf = typed && body.includes('\r\n')
  for (const [bytes, nothing] of [
    [body, isCrlf ? 'It matches, with CRLF at the ends of the lines.' : MATCHES],
    [asSent, 'It matches, with the line ends of the text as LF. The form made them CRLF.'],
  ] as const) {
    if (header === signature(bytes, key)) return compareWith({ body: bytes, key }, nothing)
  }
  const variants = keyVariants(key, input)
  const signatures = await knownSignatures(() => bodyVariants(asSent), variants, pause)
  const recipe = await signatures.find(header, pause)
  if (recipe) {
    const isKeyRight = recipe.key.cause !== 'other-webhook' && isSigningKey(input.key)
    const right = {
      body: isPrinted(asSent) ? asSent : bytesOf(recipe.body, bodyVariants(asSent)),
      key: isKeyRight ? key : bytesOf(recipe.key, variants),
    }
    return compareWith(right, MATCHES, undefined, { body: asSent, key })
  }
  const { messages = [] } = input
  const mistake = isApiKey(input.key)
    ? await mistakeOfKey({ input: key, right: key }, [], undefined, pause)
    : unexplained(HEADER, header, { messages, isPartial: signatures.isPartial() }, KEY_OR_BODY)
  return mismatch([mistake], DOES_NOT_MATCH)
}

/** Makes the bytes of a recipe again. */
function bytesOf(recipe: Recipe['body'], variants: Iterable<Variant>): Buffer {
  for (const { cause, words, value } of variants)
    if (value && cause === recipe.cause && words === recipe.words) return value
  throw new Error(`the variant ${recipe.cause} cannot be made again`)
}

/** The body without the carriage returns with which a browser ends the lines of a form. */
const withoutCarriageReturns = (body: Buffer): Buffer =>
  Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
