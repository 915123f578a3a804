/** One agreement, the card that is stored in it, and the payments that were made with it. */

import { ApiError } from '../../../core/errors.ts'
import { timeOf } from '../../../core/ids.ts'
import { inPounds } from '../../../core/money.ts'
import type { Agreement } from '../../../pay/agreements/agreement.ts'
import { cancelAgreement } from '../../../pay/agreements/commands.ts'
import { findAgreement } from '../../../pay/agreements/store.ts'
import { type Payment, statusOf } from '../../../pay/payments/payment.ts'
import { button, summaryList } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { paymentsOfAgreement } from '../../lists/payments-store.ts'
import type { PageVisit } from '../frame/define-page.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { liveNotice } from '../frame/live.ts'
import { type Next, notFound } from '../frame/page.ts'
import {
  code,
  link,
  paragraph,
  statusTag,
  summaryRows,
  time,
  timeIn,
  untrusted,
  wideTable,
} from '../frame/parts.ts'
import { agreementTag } from './list.ts'

/** The most payments that are shown. */
const MOST_PAYMENTS = 50

export const agreement = definePage({
  path: 'agreements/{agreement_id}',
  section: 'agreements',
  title: (_, { agreement }) => `Agreement ${agreement.reference}`,
  read,
  show,
  live: true,
  actions: { cancel: { run: cancel } },
})

async function read({ database }: ToolContext, { account, now, id }: PageVisit) {
  const agreement = await findAgreement(database, account.room, id)
  if (!agreement) throw notFound()
  const limit = MOST_PAYMENTS + 1
  const options = { room: account.room, agreement_id: id, now, limit }
  return { agreement, payments: await paymentsOfAgreement(database, options) }
}

function show(visit: PageVisit, { agreement, payments }: Awaited<ReturnType<typeof read>>): Html {
  return html`<p class="govuk-body">${link(`${visit.root}agreements`, 'Agreements')}</p>
<h1 class="govuk-heading-l"><bdi class="farthing-text">${agreement.reference}</bdi> ${agreementTag(agreement.status)}</h1>
${liveNotice(visit)}
${summaryList(rowsFor(agreement))}
${agreement.status !== 'cancelled' && cancelForm(visit)}
<h2 class="govuk-heading-m">Payments</h2>
${payments.length === 0 ? paragraph('No payment of the last 7 days was made with it.') : paymentsPart(visit.root, payments)}`
}

async function cancel(context: ToolContext, { account, id }: PageVisit): Promise<Next> {
  const to = `agreements/${id}`
  try {
    await cancelAgreement(context, account, id)
    return { to, done: { code: 'agreement-cancelled' } }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    if (error.status === 404) throw notFound()
    return { to, done: { code: 'cancelled-before' } }
  }
}

function rowsFor(agreement: Agreement) {
  const { agreement_id, description, user_identifier, cancelled_at, instrument } = agreement
  const card = instrument?.card
  return summaryRows(
    [
      ['Description', untrusted(description)],
      ['User identifier', user_identifier !== undefined && untrusted(user_identifier)],
      ['Date created', time(timeOf(agreement_id))],
      ['Date cancelled', cancelled_at !== undefined && time(cancelled_at)],
      ['Agreement ID', code(agreement_id)],
      [
        'Card',
        card
          ? html`${card.card_brand} ${card.first_digits_card_number ?? ''} … ${card.last_digits_card_number}, expires ${card.expiry_date}, ${untrusted(card.cardholder_name ?? '')}`
          : 'none yet: a payment that sets the agreement up brings one',
      ],
      ['Set up', instrument && time(instrument.at)],
    ],
    'agreement',
  )
}

const cancelForm = (visit: PageVisit): Html | false =>
  !visit.hasEnded &&
  html`${actionForm(visit, 'cancel', button({ id: 'cancel', text: 'Cancel the agreement', secondary: true }))}
${paragraph('A cancelled agreement stays cancelled, and no payment can be made with it.')}`

function paymentsPart(root: string, payments: readonly Payment[]): Html {
  const shown = payments.slice(0, MOST_PAYMENTS)
  return html`${wideTable({
    caption: 'Payments with the agreement, newest first',
    hidesCaption: true,
    columns: [
      { text: 'Reference' },
      { text: 'Amount', numeric: true },
      { text: 'Status' },
      { text: 'Made to' },
      { text: 'Date created' },
    ],
    rows: shown.map(payment => {
      const { payment_id, given } = payment
      return [
        link(`${root}payments/${payment_id}`, untrusted(given.reference)),
        inPounds(given.amount),
        statusTag(statusOf(payment)),
        given.set_up_agreement ? 'set it up' : 'take a payment',
        timeIn(payment_id),
      ]
    }),
  })}
${payments.length > shown.length && paragraph(`The newest ${MOST_PAYMENTS} are shown.`)}`
}
