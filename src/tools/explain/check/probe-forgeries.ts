/** Messages whose signature is wrong. Whether a receiver that answers 2xx acts on them is in probe-reads.ts. */
import type { Payment } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import { judgeForgery, type Watched } from './probe-reads.ts'
import {
  type Forgery,
  isAccepted,
  OUT_OF_TIME,
  type Probe,
  SIGNING,
  type Suspect,
} from './probing.ts'
import { type Finding, findingsOf, type Judged, type RuleText } from './rule.ts'

type ForgeryRule = RuleText & { forgeries: [Forgery, words: string][] }

/** `once`: the answers to one of each forgery. undefined without the time for them. */
export type Tried = {
  rule: ForgeryRule
  once: readonly Exchange[] | undefined
  suspect: Suspect | undefined
}

const actsOn = (what: string): string =>
  `The receiver acts on a message ${what}: it read the payment of each one, as it does for a true message.`

const FORGERY = { level: 'fail', source: SIGNING } as const

export const forgeryRules: readonly ForgeryRule[] = [
  {
    ...FORGERY,
    id: 'R1',
    title: 'A signature that is wrong',
    sentence: actsOn('with one digit of the signature changed'),
    advice:
      'Compare the header Pay-Signature with the HMAC-SHA256 of the bytes as they arrived before anything else, and answer 401 if they differ.',
    forgeries: [[{ damage: 'digit' }, 'one digit of the signature changed']],
  },
  {
    ...FORGERY,
    id: 'R2',
    title: 'No signature',
    sentence: actsOn('without the header Pay-Signature'),
    advice: 'Answer 401 to a message without the header Pay-Signature.',
    forgeries: [[{ damage: 'missing' }, 'without the signature']],
  },
  {
    ...FORGERY,
    id: 'R11',
    title: 'A key that anybody knows',
    sentence:
      'Your receiver takes messages that anybody can sign: it does not look whether its key is there.',
    advice:
      'Let your service refuse to start without its signing key. An empty text, undefined, null and None are none.',
    forgeries: [
      [{ key: '' }, 'signed with the empty key'],
      [{ key: 'undefined' }, 'signed with the key undefined'],
      [{ key: 'null' }, 'signed with the key null'],
      [{ key: 'None' }, 'signed with the key None'],
    ],
  },
]

export async function tryForgeries(probe: Probe, first: Payment): Promise<Tried[]> {
  const tried: Tried[] = []
  for (const rule of forgeryRules) {
    const { id } = rule
    const forged = rule.forgeries.flatMap(([forgery, words]) => {
      const message = probe.make(first)
      return message ? [{ message, forgery, words: `${id}: ${words}` }] : []
    })
    const once = await probe.send(forged)
    const at = once?.findIndex(isAccepted) ?? -1
    const [forgery, words] = rule.forgeries[at] ?? []
    tried.push({ rule, once, suspect: forgery && words ? { id, forgery, words } : undefined })
  }
  return tried
}

export const judgeForgeries = (tried: readonly Tried[], watched: Watched): Finding[] =>
  tried.flatMap(({ rule, once, suspect }) => findingsOf(rule, judge(once, suspect, watched)))

function judge(
  once: readonly Exchange[] | undefined,
  suspect: Suspect | undefined,
  watched: Watched,
): Judged {
  if (!once) return OUT_OF_TIME
  if (suspect) return judgeForgery(suspect, once, watched)
  if (once.some(({ status }) => status === null))
    return { lacking: 'The receiver did not answer it.', unclear: once }
  return { right: once, passed: 'The receiver refused it.' }
}
