/** Chooses the next copy of a message for a receiver, and concludes from its answers. */
import { LOOKED_UP_TEXTS } from '../../../core/budgets.ts'
import type { AskResult, Exchange } from '../../record/exchange.ts'
import { causeOf } from '../causes.ts'
import { type Advice, otherKey } from '../signature/advice.ts'
import type { Recipe } from '../signature/known-signatures.ts'
import { inWords, likelyOtherKey } from '../signature/mistakes.ts'
import { mistakesIn, type Truth, type WrongSignature } from '../signature/wrong-signatures.ts'
import { ACCEPTED_ADVICE, isSignatureRefusal } from '../wrong-signature.ts'
import { isAccepted } from './probing.ts'

/** The most copies, including the right one and the one with a random key. */
export const MOST_COPIES = 45
/** Milliseconds for all copies. */
export const MOST_MS = 30_000

/** `text` is the header Pay-Signature. `cause` is missing if the header is right. */
export type Copy = { text: string; short: string; cause?: string }

export type Subject = {
  truth: Truth
  /** An attempt with the unchanged message: its response may hold the signature that the receiver computes. */
  answer: Exchange | undefined
  /** The number of the account's other webhooks. `wrong` may use the keys of fewer. */
  otherKeys: number
  /** The signature of the message. */
  right: string
  /** A signature with a key that nobody has. */
  random: string
  /** The likeliest first. */
  wrong: readonly WrongSignature[]
  /** Finds how a signature was made; undefined if no known mistake explains it. */
  find: (text: string) => Promise<Recipe | undefined>
}

type Sending = { post: (copy: Copy) => Promise<Exchange>; mayPost: () => boolean }

type Conclusion = Omit<AskResult, 'posts' | 'evidence'> & { evidence: readonly Exchange[] }

const isRefused = ({ status }: Exchange): boolean => isSignatureRefusal(status)

/** Looks at an earlier answer; then sends the right copy, one with a random key, and wrong ones until one is taken. */
export async function findMistake(subject: Subject, { post, mayPost }: Sending) {
  const answered = subject.answer && (await fromAnswer(subject, subject.answer))
  if (answered) return answered
  const first = await post(rightCopy(subject))
  // The receiver may have been mended since, or answer nothing about the signature.
  if (!isAccepted(first) && !isRefused(first))
    return {
      cause: 'other-answer',
      sentence: `It does not answer about the signature now. ${endingOf(first)}`,
      advice: [{ text: 'Mend this first, and ask again.' }],
      evidence: [first],
    }
  const forged = await post({ text: subject.random, short: 'a random key', cause: 'key:random' })
  return fromBoth(subject, first, forged) ?? fromWrong(subject, [first, forged], { post, mayPost })
}

const rightCopy = ({ right }: Subject): Copy => ({ text: right, short: 'the right signature' })

const NOTHING_SENT =
  'Its response to the newest attempt shows that, so nothing was sent. Ask again when you have mended it.'

/** An answer with the right signature once may repeat the header. If it has it twice, one is the computed signature. */
async function fromAnswer(subject: Subject, answer: Exchange): Promise<Conclusion | undefined> {
  if (!isRefused(answer)) return undefined
  const [mistake] = await shownIn(subject, [answer])
  if (mistake) {
    const { cause, words, advice } = mistake
    const sentence = `Your receiver checks a wrong signature: ${words}. ${NOTHING_SENT}`
    return { cause, sentence, advice, evidence: [answer] }
  }
  if (signaturesIn(answer).filter(text => text === subject.right).length < 2) return undefined
  return {
    cause: 'compared-wrongly',
    sentence: `Your receiver computes the right signature and compares it wrongly: it got that and computed that. ${NOTHING_SENT}`,
    advice: [COMPARE],
    evidence: [answer],
  }
}

function fromBoth({ right }: Subject, first: Exchange, forged: Exchange): Conclusion | undefined {
  const evidence = [forged, first]
  if (isAccepted(forged) && isAccepted(first))
    return {
      cause: 'checks-nothing',
      sentence:
        'Your receiver checks nothing: it accepted a message that is signed with a random key.',
      advice: [{ text: ACCEPTED_ADVICE }],
      evidence,
    }
  if (isAccepted(forged)) return unsteady(evidence)
  if (isAccepted(first))
    return {
      cause: 'accepts',
      sentence: 'It accepts the message now, and refuses a wrong signature.',
      advice: [{ text: 'There is nothing to mend. The receiver has the message now.' }],
      evidence,
    }
  if (isRefused(forged) && forged.status !== first.status)
    return {
      cause: 'not-the-signature',
      sentence: `Your receiver answers ${first.result} to the right signature and ${forged.result} to a wrong one: it refuses the message for another reason.`,
      advice: [LOOK],
      evidence,
    }
  if (!computedIn(forged).includes(right)) return undefined
  return {
    cause: 'compared-wrongly',
    sentence:
      'Your receiver computes the right signature and compares it wrongly: its answer to a message that is signed with a random key contains the right signature.',
    advice: [COMPARE],
    evidence,
  }
}

const unsteady = (evidence: readonly Exchange[]): Conclusion => ({
  cause: 'unsteady',
  sentence:
    'Your receiver refused the right signature and accepted a wrong one, and its answers do not depend on the signature alone.',
  advice: [{ text: 'Ask again when the receiver runs steadily.' }, LOOK],
  evidence,
})

async function fromWrong(
  subject: Subject,
  [first, forged]: readonly [Exchange, Exchange],
  { post, mayPost }: Sending,
): Promise<Conclusion> {
  const copies = [...(await shownIn(subject, [first, forged])), ...subject.wrong]
  const tried = new Set<string>()
  let otherwise = 0
  for (const { text, short, cause, words, advice } of copies) {
    if (tried.has(text)) continue
    if (!mayPost()) break
    const sent = await post({ text, short, cause })
    tried.add(text)
    if (isAccepted(sent)) {
      // If the receiver accepts the right copy now, its answers do not depend on the signature alone.
      const again = mayPost() ? await post(rightCopy(subject)) : undefined
      if (again && isAccepted(again)) return unsteady([again, sent, first])
      return {
        cause,
        sentence: `Your receiver checks a wrong signature: ${words}.`,
        advice,
        evidence: [sent, first],
      }
    }
    if (!isRefused(sent)) otherwise += 1
    if (sent.status === 429)
      return {
        cause: 'stopped',
        sentence: `Known mistakes that were tried: ${tried.size}. ${endingOf(sent)}`,
        advice: [{ text: 'Raise the limit for these messages, and ask again.' }],
        evidence: [sent, first],
      }
  }
  const { truth, otherKeys, wrong } = subject
  const isTried = ({ text }: WrongSignature) => tried.has(text)
  const isOfKey = ({ cause }: WrongSignature) => cause === 'key:other-webhook'
  const mistakes = wrong.filter(signature => !isOfKey(signature) && !isTried(signature)).length
  const keys = otherKeys - wrong.filter(isOfKey).filter(isTried).length
  const notTried = [
    mistakes > 0 && `${mistakes} more`,
    keys > 0 && `the keys of ${keys} other ${keys === 1 ? 'webhook' : 'webhooks'}`,
  ].filter(text => text !== false)
  const facts = [
    tried.size === 0
      ? 'No known mistake was tried.'
      : tried.size === 1
        ? 'The one known mistake that was tried is not accepted.'
        : `None of the ${tried.size} known mistakes that were tried is accepted.`,
    ...(otherwise > 0 ? [`${otherwise} of them got another answer than a refusal.`] : []),
    ...(notTried.length > 0 ? [`Not tried: ${inWords(notTried)} (${BOUNDS}).`] : []),
    likelyOtherKey(String(truth.key), truth.owner),
  ]
  return {
    cause: 'unknown',
    sentence: facts.join(' '),
    advice: [otherKey, LOOK, SIGN_IN],
    evidence: [first, forged],
  }
}

const BOUNDS = `at most ${MOST_COPIES} copies are sent, within ${MOST_MS / 1_000} seconds`

const LOOK: Advice = {
  text: 'The log of your receiver says more. Let it print the signature that it computes and the length of the body and of the key, and enter that signature at Compare signatures (farthing verify --message ... --computed ...): some 2,000 combinations of mistakes are tried there.',
}
const SIGN_IN: Advice = {
  text: 'Something before your check may refuse the message, such as a sign-in or the CSRF protection of Django, Rails or Laravel: exempt this path from it.',
}
const COMPARE: Advice = {
  text: 'Compare two values of one form: both are 64 hexadecimal digits in lower case. In Node: crypto.timingSafeEqual(Buffer.from(header), Buffer.from(computed)).',
}

/** Describes the answer of the receiver, and its cause. */
const endingOf = (exchange: Exchange): string => causeOf(exchange) ?? exchange.result ?? ''

/** All texts of 64 hexadecimal digits in the receiver's answer. */
function signaturesIn({ response_headers, response_body }: Exchange): string[] {
  const texts = [...Object.values(response_headers), response_body?.text ?? '']
  return texts.flatMap(text => text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/gi) ?? [])
}

/** The signatures in the receiver's answer, except the signature of the copy. */
function computedIn(exchange: Exchange): string[] {
  const sent = exchange.request_headers['Pay-Signature']
  return [...new Set(signaturesIn(exchange))]
    .filter(text => text !== sent)
    .slice(0, LOOKED_UP_TEXTS)
}

/** The wrong signatures in the receiver's answers, with their mistakes. */
async function shownIn({ truth, find }: Subject, exchanges: readonly Exchange[]) {
  const signatures: WrongSignature[] = []
  for (const text of new Set(exchanges.flatMap(computedIn))) {
    const recipe = await find(text)
    const mistakes = recipe ? mistakesIn(recipe, truth.owner) : []
    if (mistakes.length > 0)
      signatures.push({
        text,
        short: 'the signature in its answer',
        cause: mistakes.map(({ cause }) => cause).join(' '),
        words: inWords(mistakes.map(({ words }) => words)),
        advice: [...new Set(mistakes.flatMap(({ advice }) => advice))],
      })
  }
  return signatures
}
