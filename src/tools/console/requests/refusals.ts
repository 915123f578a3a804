/** The refused requests that are alike, as one table. */

import { timeOf } from '../../../core/ids.ts'
import type { Database } from '../../../core/ports.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { Exchange } from '../../record/exchange.ts'
import { groupRefusals, type Refusals } from '../../record/refusal-store.ts'
import { findExchange } from '../../record/store.ts'
import { refusalText } from '../frame/exchange.ts'
import type { AccountVisit } from '../frame/page.ts'
import {
  code,
  inDigits,
  link,
  numeric,
  paragraph,
  time,
  unbroken,
  untrusted,
  wideTable,
} from '../frame/parts.ts'
import { addressOfGroup, type Operations } from './find.ts'

const MOST_GROUPS = 20

/** The newest groups, and how many there are; undefined where nothing was refused. */
export async function readRefusals(database: Database, { account: { room } }: AccountVisit) {
  const all = await groupRefusals(database, room)
  if (all.length === 0) return undefined
  const groups = all.slice(0, MOST_GROUPS)
  return { groups, newestOf: await newestRefused(database, room, groups), total: all.length }
}

type Groups = NonNullable<Awaited<ReturnType<typeof readRefusals>>>

export const refusalsPart = (
  { root }: AccountVisit,
  { groups, newestOf, total }: Groups,
  operations: Operations,
): Html => html`${groupsTable(root, groups, newestOf, operations)}
${total > groups.length && paragraph(`The newest ${groups.length} of ${total} kinds are shown.`)}`

/** The newest request of each group, by its identifier. */
async function newestRefused(
  database: Database,
  room: string,
  groups: Refusals[],
): Promise<Map<string, Exchange>> {
  const found = await Promise.all(groups.map(each => findExchange(database, room, each.newest)))
  return new Map(found.flatMap(each => (each ? [[each.exchange_id, each]] : [])))
}

function groupsTable(
  root: string,
  groups: Refusals[],
  newestOf: Map<string, Exchange>,
  operations: Operations,
): Html {
  return html`<h2 class="govuk-heading-m" id="refusals">Refusals</h2>
${wideTable({
  caption: 'Refused requests of the last 24 hours that are alike',
  columns: [
    'Operation',
    'Code',
    'Field',
    numeric('How often'),
    'Newest',
    'What the newest was told',
  ],
  rows: groups.map(group => {
    const { operation, field, newest, found } = group
    const exchange = newestOf.get(newest)
    return [
      link(addressOfGroup(group), operations.get(operation) ?? operation),
      group.code ?? `${group.status}`,
      field === null ? '' : unbroken(code(field)),
      inDigits(found),
      exchange ? link(`${root}requests/${newest}`, time(exchange.at)) : time(timeOf(newest)),
      untrusted((exchange && refusalText(exchange)) ?? ''),
    ]
  }),
})}`
}
