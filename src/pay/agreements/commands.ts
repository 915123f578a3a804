import type { Account } from '../../core/account.ts'
import { agreementNotFound, cannotCancelAgreement } from '../../core/errors.ts'
import { untilWritten } from '../../core/retry.ts'
import type { Context } from '../context.ts'
import { cancel, makeAgreement, type NewAgreement } from './agreement.ts'
import { findAgreement, insertAgreement, saveAgreement } from './store.ts'

export async function createAgreement(context: Context, account: Account, fields: NewAgreement) {
  const { database, time, newId } = context
  const { room } = account
  const agreement = makeAgreement(newId(time.now(account), room), room, fields)
  await database.write([insertAgreement(agreement)])
  return agreement
}

/** Throws an ApiError if the account has no such agreement, or its status does not allow a cancel. */
export async function cancelAgreement(context: Context, account: Account, agreement_id: string) {
  const { database, time, recordEffects } = context
  await untilWritten(async () => {
    const agreement = await findAgreement(database, account.room, agreement_id)
    if (!agreement) throw agreementNotFound('P2500')
    recordEffects?.({ account, agreement: agreement.status })
    const after = cancel(agreement, time.now(account), account.behaviour)
    if (!after) throw cannotCancelAgreement(agreement.status)
    return (await database.write([saveAgreement(after)])) ? after : undefined
  })
}
