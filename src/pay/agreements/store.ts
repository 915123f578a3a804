import type { Database, Statement } from '../../core/ports.ts'
import { fold } from '../../platform/database/fold.ts'
import { columnsFor, findOne, where } from '../../platform/database/select.ts'
import type { Agreement } from './agreement.ts'

type Row = Pick<Agreement, 'agreement_id' | 'room' | 'version' | 'status'> & { body: string }
type Body = Omit<Agreement, keyof Row>

export const agreementRows = {
  from: 'agreements',
  columns: columnsFor<Row>({
    agreement_id: 'agreement_id',
    room: 'account',
    version: 'version',
    status: 'status',
    body: 'body',
  }),
  id: 'agreement_id',
  fromRow: ({ body, ...columns }: Row): Agreement => ({
    ...columns,
    ...(JSON.parse(body) as Body), // written by bodyOf
  }),
}

const bodyOf = ({ agreement_id, room, version, status, ...body }: Agreement): string =>
  JSON.stringify(body satisfies Body)

export function insertAgreement(agreement: Agreement): Statement {
  const { agreement_id, room, version, status, reference } = agreement
  return {
    sql: `insert into agreements (agreement_id, account, version, status, reference_folded, body)
          values ($1, $2, $3, $4, $5, $6)`,
    values: [agreement_id, room, version, status, fold(reference), bodyOf(agreement)],
  }
}

export const findAgreement = (database: Database, room: string, agreement_id: string) =>
  findOne(database, agreementRows, where('agreement_id = ? and account = ?', agreement_id, room))

/** undefined if there is no such agreement, or if it has no card. */
export const cardOfAgreement = async (database: Database, room: string, agreement_id = '') =>
  (await findAgreement(database, room, agreement_id))?.instrument?.card

/** Writes an agreement whose version was incremented, by compare-and-swap on that version. */
export function saveAgreement(agreement: Agreement): Statement {
  const { agreement_id, version, status } = agreement
  return {
    sql: `update agreements set version = $2, status = $3, body = $4
          where agreement_id = $1 and version = $2 - 1`,
    values: [agreement_id, version, status, bodyOf(agreement)],
    expect: 1,
  }
}

/** Misses when the agreement has changed since it was read. Locks its row until the commit. */
export function holdAgreement({ agreement_id, version }: Agreement): Statement {
  return {
    sql: 'update agreements set version = version where agreement_id = $1 and version = $2',
    values: [agreement_id, version],
    expect: 1,
  }
}
