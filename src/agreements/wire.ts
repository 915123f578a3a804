import { timeOf } from '../ids.ts'
import { iso } from '../time.ts'
import type { Agreement } from './agreement.ts'
import type { AgreementBody } from './schema.ts'

/** An agreement as every response shows it (SPEC *Agreement*). */
export function present(agreement: Agreement): AgreementBody {
  const { agreement_id, user_identifier, cancelled_at, instrument } = agreement
  return {
    agreement_id,
    reference: agreement.reference,
    description: agreement.description,
    ...(user_identifier !== undefined && { user_identifier }),
    status: agreement.status,
    created_date: iso(timeOf(agreement_id)),
    ...(cancelled_at !== undefined && { cancelled_date: iso(cancelled_at) }),
    ...(instrument && {
      payment_instrument: {
        type: 'card',
        created_date: iso(instrument.at),
        CardDetails: instrument.card,
        card_details: instrument.card,
      },
    }),
  }
}
