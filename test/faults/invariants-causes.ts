/** Invariants of the record: what caused what. */
import type { Rows } from './rows.ts'

/** An event or a message has at most one cause. It has none where its request was not recorded. */
export function causeProblems({ exchanges, payments }: Rows): string[] {
  const events = new Map(payments.map(each => [each.payment_id, each.body.events.length]))
  const causes = new Map<string, string>()
  return exchanges.flatMap(({ exchange_id, payment_id, body: { caused } }) => {
    const positions = caused?.events ?? []
    const problems = positions
      .filter(position => position >= (events.get(payment_id) ?? 0))
      .map(position => `I22 ${exchange_id}: ${payment_id} has no event ${position}`)
    for (const effect of [
      ...positions.map(position => `event ${position} of ${payment_id}`),
      ...(caused?.messages ?? []),
    ]) {
      const other = causes.get(effect)
      if (other) problems.push(`I22 ${exchange_id} and ${other} caused ${effect}`)
      causes.set(effect, exchange_id)
    }
    return problems
  })
}
