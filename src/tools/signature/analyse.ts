/**
 * Explains why a signature does not match: it tries the common mistakes with the body, the key and the signature,
 * alone and together, and names the nearest. It stores none of its input.
 */
import { type Advice, adviceFor } from './advice.ts'
import { bodyVariants } from './bodies.ts'
import { type Difference, differenceOf } from './difference.ts'
import { createDigestSearch, signatureOf } from './digests.ts'
import { keyVariants, type NamedKey } from './keys.ts'
import type { Variant } from './variants.ts'

/** A message as it was sent. */
export type SentMessage = {
  message_id: string
  body: Buffer
  signing_key: string
  /** The name of its webhook for the user. */
  webhook: string
}

export type Question = {
  /** The bytes whose signature was checked. */
  body: Buffer
  /** As the receiver has it, never trimmed. */
  key: string
  /** The header Pay-Signature as the receiver got it. */
  header?: string | undefined
  /** The signature that the receiver's code computed. */
  computed?: string | undefined
  /** The body was typed into a form, which turns each LF into CRLF. */
  typed?: boolean | undefined
  /** The message that this is about. */
  message?: SentMessage | undefined
  /** The signing keys of the account. */
  keys?: readonly NamedKey[] | undefined
  /** Other messages that the header may belong to. */
  messages?: readonly SentMessage[] | undefined
}

export type Analysis = {
  /** The header matches, and so does what the code computed, if it was given. */
  matches: boolean
  /** The result in one or two sentences. */
  sentence: string
  /** Each mistake that was found, as `body:newline`, `key:other-webhook` or `code-digest:base64`. */
  causes: string[]
  /** The changes to make. */
  advice: Advice[]
  difference?: Difference
  /** Identifiers of the messages whose signature the header is, if it is not that of this one. */
  messages?: string[]
}

type Mistake = { cause: string; words: string }

/** The body and the key that make the header right. */
type Truth = { body: Buffer; key: Buffer }

export function analyse(question: Question): Analysis {
  const { body, computed, typed, message } = question
  const key = Buffer.from(question.key)
  const header = question.header ?? (message && trueSignature(truthOf(message)))
  if (header === undefined)
    return analyseCode(question, { body, key }, trueSignature({ body, key }))
  if (header === trueSignature({ body, key })) {
    if (message && !isOf(message, header))
      return right(
        'It matches, but not with the message that was picked: the header and the body belong to another one.',
      )
    return analyseCode(question, { body, key }, header, typed ? matchesTyped(body) : undefined)
  }
  const asSent = typed
    ? Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    : body
  if (header === trueSignature({ body: asSent, key }))
    return analyseCode(
      question,
      { body: asSent, key },
      header,
      'It matches, with the line ends of the text as LF. The form made them CRLF.',
    )
  const truth = findTruth({ ...question, body: asSent }, header)
  if (!truth) return nothing(question, header)
  const mistakes = mistakesOf(question, asSent, truth, header)
  const sentence = `It does not match: ${inWords(mistakes.map(({ words }) => words))}.`
  const isUnknown = mistakes.some(({ cause }) => cause === 'body:unknown')
  const analysis = {
    ...wrong(mistakes, sentence),
    ...(isUnknown && differenceFrom(message, asSent)),
  }
  if (computed !== undefined && computed !== trueSignature(truth)) {
    const more = mistakesOfCode(question, truth, computed)
    // The code signed the given body with the given key, so the mistakes are the same.
    if (more && computed !== trueSignature({ body, key })) {
      analysis.causes.push(...more.map(({ cause }) => cause))
      analysis.sentence += ` Besides, ${inWords(more.map(({ words }) => words))}.`
      analysis.advice = adviceFor(analysis.causes)
    }
  }
  return analysis
}

const MATCHES = 'It matches: these bytes, this key, this signature.'

/** Which line ends the text had that matches. */
const matchesTyped = (body: Buffer): string =>
  body.includes('\r\n') ? 'It matches, with CRLF at the ends of the lines.' : MATCHES

const trueSignature = ({ body, key }: Truth): string => signatureOf(body, key)

const truthOf = ({ body, signing_key }: SentMessage): Truth => ({
  body,
  key: Buffer.from(signing_key),
})

const isOf = (message: SentMessage, header: string): boolean =>
  trueSignature(truthOf(message)) === header

const right = (sentence: string): Analysis => ({ matches: true, sentence, causes: [], advice: [] })

function wrong(mistakes: Mistake[], sentence: string): Analysis {
  const causes = mistakes.map(({ cause }) => cause)
  return { matches: false, sentence, causes, advice: adviceFor(causes) }
}

const inWords = (parts: string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

/** For a correct header: compares the signature that the receiver's code computed. */
function analyseCode(
  question: Question,
  truth: Truth,
  header: string,
  sentence = MATCHES,
): Analysis {
  const { computed } = question
  if (computed === undefined || computed === header) return right(sentence)
  const start =
    question.header === undefined
      ? 'Your code does not match'
      : 'The header matches, but your code does not'
  const mistakes = mistakesOfCode(question, truth, computed)
  if (mistakes) return wrong(mistakes, `${start}: ${inWords(mistakes.map(({ words }) => words))}.`)
  return {
    ...wrong([], `${start}. No known mistake explains it: it had another body or another key.`),
    causes: ['code:unknown'],
    advice: adviceFor(['code-body:unknown', 'code-key:unknown']),
  }
}

type Found = { body: Variant<Buffer>; key: Variant<Buffer>; digest: Mistake; mistakes: number }

/** Bytes of bodies that are hashed for pairs of a wrong body and a wrong key: some 50 ms. */
const MOST_FOR_PAIRS = 16 * 1024 * 1024

/**
 * The combination with the fewest mistakes whose signature is `text`; the first of equal ones. Body and key are not
 * both changed where that would take long.
 */
function find(text: string, bodies: Variant<Buffer>[], keys: Variant<Buffer>[]): Found | undefined {
  const isWrong = ({ cause }: Mistake) => Number(cause !== 'as-is')
  const bytes = bodies.reduce((sum, { value }) => sum + value.length, 0)
  const most = bytes * keys.length > MOST_FOR_PAIRS ? 1 : 2
  const digestOf = createDigestSearch(text)
  let best: Found | undefined
  for (const body of bodies)
    for (const key of keys) {
      const least = isWrong(body) + isWrong(key)
      if (least > most) continue
      if (best && best.mistakes <= least) continue
      const digest = digestOf(body.value, key.value)
      if (!digest) continue
      const mistakes = least + isWrong(digest)
      if (!best || mistakes < best.mistakes) best = { body, key, digest, mistakes }
    }
  return best
}

/** The message that the header belongs to: the picked one, or one that is near to the given body and key. */
function findTruth(question: Question, header: string): Truth | undefined {
  const { body, key, message, keys = [] } = question
  if (message) {
    const truth = truthOf(message)
    const own = [{ cause: 'as-is', words: '', value: truth.key }]
    if (
      createDigestSearch(header)(truth.body, truth.key) ??
      find(header, bodyVariants(truth.body), own)
    )
      return truth
  }
  const found = find(header, bodyVariants(body), keyVariants(Buffer.from(key), keys))
  return found && { body: found.body.value, key: found.key.value }
}

/** How the header, the body and the key that were given differ from the true ones. */
function mistakesOf(
  { key, message, keys = [] }: Question,
  body: Buffer,
  truth: Truth,
  header: string,
): Mistake[] {
  const mistakes: Mistake[] = []
  if (!body.equals(truth.body)) {
    const known = bodyVariants(truth.body).find(({ value }) => value.equals(body))
    const back = bodyVariants(body).find(({ value }) => value.equals(truth.body))
    if (known)
      mistakes.push({
        cause: `body:${known.cause}`,
        words: `the body given is the message ${known.words}`,
      })
    else if (back)
      mistakes.push({
        cause: `body:not-${back.cause}`,
        words: `the message is the body given ${back.words}`,
      })
    else
      mistakes.push({ cause: 'body:unknown', words: 'the body given is not that of the message' })
  }
  if (!truth.key.equals(Buffer.from(key))) mistakes.push(mistakeOfKey(key, truth, keys, message))
  const digest = createDigestSearch(header)(truth.body, truth.key)
  if (digest && digest.cause !== 'as-is')
    mistakes.push({
      cause: `header:${digest.cause}`,
      words: `the header given is the signature ${digest.words}`,
    })
  return mistakes
}

function mistakeOfKey(
  key: string,
  truth: Truth,
  keys: readonly NamedKey[],
  message: SentMessage | undefined,
): Mistake {
  const isTrue = ({ key }: NamedKey) => truth.key.equals(Buffer.from(key))
  const owner = keys.find(isTrue)?.name ?? message?.webhook
  const needed = owner ? `, and the message is signed with the key of ${owner}` : ''
  if (isApiKey(key))
    return {
      cause: 'key:api-key',
      words: `the key given is an API key, which signs nothing${needed}`,
    }
  const others = keys.filter(known => !isTrue(known))
  const variants = keyVariants(truth.key, others)
  const known = variants.find(({ value }) => value.equals(Buffer.from(key)))
  if (known?.cause === 'other-webhook')
    return { cause: 'key:other-webhook', words: `the key given is that ${known.words}${needed}` }
  if (known)
    return { cause: `key:${known.cause}`, words: `the key given is the signing key ${known.words}` }
  const back = keyVariants(Buffer.from(key), []).find(({ value }) => value.equals(truth.key))
  if (back)
    return {
      cause: `key:not-${back.cause}`,
      words: `the signing key is the key given ${back.words}`,
    }
  if (owner)
    return {
      cause: 'key:unknown',
      words: `the message is signed with the key of ${owner}, which is not the key given`,
    }
  return { cause: 'key:unknown', words: 'the key given is not that of the message' }
}

const isApiKey = (key: string): boolean => /^api_(test|live)_/.test(key)

/** How the code computed its result, or undefined if no known mistake leads to it. */
function mistakesOfCode(
  { body, key, keys = [] }: Question,
  truth: Truth,
  computed: string,
): Mistake[] | undefined {
  const isTrue = (known: string) => truth.key.equals(Buffer.from(known))
  const given = isTrue(key) ? [] : [{ name: 'another webhook', key }]
  const others = [...keys.filter(known => !isTrue(known.key)), ...given]
  const found =
    find(computed, bodyVariants(truth.body), keyVariants(truth.key, others)) ??
    (body.equals(truth.body)
      ? undefined
      : find(computed, bodyVariants(body), keyVariants(truth.key, others)))
  if (!found) return undefined
  const parts: [string, string, Mistake][] = [
    ['body', 'it signs the body', found.body],
    ['key', 'it signs with the key', found.key],
    ['digest', 'its signature is', found.digest],
  ]
  return parts
    .filter(([, , { cause }]) => cause !== 'as-is')
    .map(([part, subject, { cause, words }]) => ({
      cause: `code-${part}:${cause}`,
      words: `${subject} ${words}`,
    }))
}

function nothing(question: Question, header: string): Analysis {
  const { key, body, message, messages = [] } = question
  const owners = messages.filter(other => isOf(other, header))
  const causes = isApiKey(key) ? ['key:api-key'] : ['unknown']
  const analysis = (sentence: string): Analysis => ({
    matches: false,
    sentence,
    causes,
    advice: adviceFor(causes[0] === 'unknown' ? ['body:unknown', 'key:unknown'] : causes),
    ...differenceFrom(message, body),
    ...(owners.length > 0 && { messages: owners.map(({ message_id }) => message_id) }),
  })
  if (causes[0] === 'key:api-key')
    return analysis(
      'It does not match: the key given is an API key, which signs nothing. Use the signing_key of the webhook.',
    )
  const [owner] = owners
  if (owner)
    return analysis(
      `It does not match: the header is the signature of another message, to ${owner.webhook}.`,
    )
  return analysis(
    'It does not match, and no known mistake explains it: the key or the body is of another webhook or another message.',
  )
}

const differenceFrom = (message: SentMessage | undefined, given: Buffer) =>
  message && !given.equals(message.body) && { difference: differenceOf(message.body, given) }
