/** What the answers of a receiver to the messages of a rule show. */
import { behaviourOf, type Payment } from '../../../pay/payments/payment.ts'
import type { Exchange } from '../../record/exchange.ts'
import type { ProbeRule } from './probe-rules.ts'
import { CONTROL, isAccepted, OUT_OF_TIME, type Probe, readsShow, VARY } from './probing.ts'
import type { Judged } from './rule.ts'

/** A receiver that breaks the rule must break it twice, and accept the true message in between. */
export async function judgeAnswers(
  probe: Probe,
  rule: ProbeRule,
  { first, control: accepted }: { first: Payment; control: Exchange },
): Promise<Judged> {
  if (rule.isTrueIn === behaviourOf(first)) return { right: [accepted], passed: IS_TRUE }
  const { after = 0, breaks = isRefused, passed = 'The receiver accepted it.' } = rule
  const made = rule.messages(first, probe)
  if (!made) return {}
  const send = async (messages = rule.messages(first, probe) ?? []) => {
    const words = `${rule.id}: ${rule.words}`
    return probe.send(
      messages.map(message => ({ message, words })),
      { atOnce: rule.atOnce },
    )
  }
  const answers = await send(made)
  if (!answers) return OUT_OF_TIME
  if (!breaks(answers)) return { right: answers, passed }
  const message = probe.make(first)
  const control = message && (await probe.send([{ message, words: CONTROL }]))
  const again = control && (await send())
  if (!again) return OUT_OF_TIME
  const unclear = [...answers, ...control, ...again]
  const before = [answers, again].flatMap(each => each.slice(0, after))
  if (rule.lacking && after > 0 && !before.some(isAccepted)) return { unclear }
  const isSteady = control.every(isAccepted) && breaks(again) && before.every(isAccepted)
  if (!isSteady) return { lacking: VARY, unclear }
  const evidence = [...answers, ...again].filter(each => !isAccepted(each))
  if (rule.isUnknown && (await wasReadBefore(probe, [...answers, ...again])))
    return { lacking: READS_UNKNOWN, unclear }
  return { broken: [{ evidence }] }
}

const IS_TRUE = 'The account behaves so: the true message is printed like this, and was accepted.'

const isRefused = (answers: readonly Exchange[]): boolean => !answers.every(isAccepted)

const READS_UNKNOWN =
  'The receiver reads the payment before it answers, and this one does not exist, so its refusal shows nothing.'

/** Whether the receiver had read a payment when it first answered a message about it. What it reads later is no reason. */
const wasReadBefore = (probe: Probe, answers: readonly Exchange[]): Promise<boolean> => {
  const first = answers.filter(
    ({ payment_id }, i) => answers.findIndex(each => each.payment_id === payment_id) === i,
  )
  return readsShow(probe, reads =>
    first.some(({ payment_id, began, ms }) =>
      reads.some(read => read.payment_id === payment_id && read.began <= began + ms),
    ),
  )
}
