import { rawBody, theDigest, theHeader, theKey } from './advice.ts'
import type { Analysis, Given, SentMessage } from './analyse.ts'
import { bodyVariants } from './bodies.ts'
import { differenceOf } from './difference.ts'
import { signatureOf } from './digests.ts'
import { find } from './find.ts'
import { keyVariants, type NamedKey } from './keys.ts'
import { type Mistake, mistakeOfBody, mistakeOfKey, mistakesOfSignature } from './mistakes.ts'
import {
  COMPUTED,
  HEADER,
  inWords,
  match,
  mismatch,
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
export function compareWithMessage(message: SentMessage, question: Given): Analysis {
  const { header, computed, keys = [] } = question
  const right = { body: message.body, key: Buffer.from(message.signing_key) }
  const given = {
    body: question.body && bodyAsSent(question.body, right.body, question.typed),
    key: question.key === undefined ? undefined : Buffer.from(question.key),
  }
  const compared = { message, right, given, otherKeys: otherKeys(message, keys) }
  const signature = signatureOf(right.body, right.key)
  const mistakes = mistakesOfGiven(compared)
  if (isOfAnotherMessage(compared, header, mistakes))
    return match('It matches, but the header and the body are not those of the message.')

  const ofSignatures = mistakesOfSignatures(question, compared, mistakes, signature)
  if (mistakes.length + ofSignatures.length === 0) return noMistake(question, given)
  const isOnlyComputed = mistakes.length === 0 && header === signature
  const end = [
    ...(mistakes.length === 0 && ofSignatures.some(({ cause }) => cause === 'unknown')
      ? [' Key and body are right.']
      : []),
    ...(computed === signature ? [' What your code computed is right.'] : []),
  ]
  return {
    ...mismatch(
      [...mistakes, ...ofSignatures],
      isOnlyComputed ? 'The header matches, but ' : 'It does not match: ',
      end.join(''),
    ),
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

function mistakesOfGiven({ message, right, given, otherKeys }: Compared): Mistake[] {
  const { body, key } = given
  const mistakes: Mistake[] = []
  if (body && !body.equals(right.body)) mistakes.push(mistakeOfBody(body, right.body))
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
function mistakesOfSignatures(
  { header, computed, apiKeys = [], messages = [] }: Given,
  compared: Compared,
  mistakes: readonly Mistake[],
  signature: string,
): Mistake[] {
  const { message, right, given, otherKeys } = compared
  const explained = [signature, signatureOfGiven(compared)]
  const bodies = [...bodyVariants(right.body), ...asGiven(given.body)]
  const keys = [
    ...keyVariants(right.key, { webhooks: otherKeys, api: apiKeys }),
    ...asGiven(given.key),
  ]
  const isAllGiven = given.body !== undefined && given.key !== undefined
  const known = mistakes.map(({ cause }) => cause)
  const mistakesOf = (subject: string, text: string, advice: Mistake['advice']): Mistake[] => {
    if (explained.includes(text)) return []
    explained.push(text)
    const found = find(text, bodies, keys)
    if (!found) return [unexplained(subject, text, messages, advice)]
    return mistakesOfSignature(found, { subject, owner: message.webhook, known })
  }
  return [
    ...(header === undefined ? [] : mistakesOf(HEADER, header, [theHeader])),
    ...(computed === undefined
      ? []
      : mistakesOf(COMPUTED, computed, isAllGiven ? [theDigest] : [rawBody, theKey])),
  ]
}

const asGiven = (value: Buffer | undefined): Variant<Buffer>[] =>
  value ? [{ cause: 'given', words: 'given', advice: rawBody, value }] : []

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
