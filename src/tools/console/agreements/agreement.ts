/** One agreement, the card that is stored in it, and the payments that were made with it. */
import { ApiError } from '../../../core/errors.ts'
import { timeOf } from '../../../core/ids.ts'
import { inPounds } from '../../../core/money.ts'
import type { Agreement } from '../../../pay/agreements/agreement.ts'
import { cancelAgreement } from '../../../pay/agreements/commands.ts'
import { findAgreement } from '../../../pay/agreements/store.ts'
import { type Payment, statusOf } from '../../../pay/payments/payment.ts'
import { pathParam, type Route } from '../../../platform/http/endpoint.ts'
import { button, summaryList } from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { paymentsOfAgreement } from '../../lists/payments-store.ts'
import { liveNotice, type News, versionOf } from '../frame/live.ts'
import { type AccountVisit, type Next, notFound, type Page } from '../frame/page.ts'
import {
  code,
  link,
  paragraph,
  postForm,
  statusTag,
  summaryRows,
  time,
  timeIn,
  untrusted,
  wideTable,
} from '../frame/parts.ts'
import { actionRoute, pageRoute } from '../frame/route.ts'
import { agreementTag } from './list.ts'

/** The most payments that are shown. */
const MOST_PAYMENTS = 50

export const agreementRoutes = (context: ToolContext): Route[] => [
  pageRoute(context, 'agreements/{agreement_id}', visit => agreementPage(context, visit)),
  actionRoute(context, 'agreements/{agreement_id}/cancel', {
    purpose: 'cancel',
    act: visit => cancel(context, visit),
  }),
]

async function readAgreement(
  { database }: ToolContext,
  { account, now }: AccountVisit,
  agreement_id: string,
) {
  const agreement = await findAgreement(database, account.room, agreement_id)
  if (!agreement) throw notFound()
  const limit = MOST_PAYMENTS + 1
  const asked = { room: account.room, agreement_id, now, limit }
  return { agreement, payments: await paymentsOfAgreement(database, asked) }
}

type Shown = Awaited<ReturnType<typeof readAgreement>>

const versionOfPage = ({ agreement, payments }: Shown): string =>
  versionOf([agreement.version, payments.map(({ payment_id, version }) => [payment_id, version])])

export const agreementNews = async (
  context: ToolContext,
  visit: AccountVisit,
  id: string,
): Promise<News> => ({ version: versionOfPage(await readAgreement(context, visit, id)) })

async function cancel(context: ToolContext, { account, request }: AccountVisit): Promise<Next> {
  const agreement_id = pathParam(request, 'agreement_id')
  const to = `agreements/${agreement_id}`
  try {
    await cancelAgreement(context, account, agreement_id)
    return { to, done: { code: 'agreement-cancelled' } }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    if (error.status === 404) throw notFound()
    return { to, done: { code: 'cancelled-before' } }
  }
}

async function agreementPage(context: ToolContext, visit: AccountVisit): Promise<Page> {
  const { root, request } = visit
  const agreement_id = pathParam(request, 'agreement_id')
  const shown = await readAgreement(context, visit, agreement_id)
  const { agreement, payments } = shown
  const address = `${root}agreements/${agreement_id}`
  const content = html`<p class="govuk-body">${link(`${root}agreements`, 'Agreements')}</p>
<h1 class="govuk-heading-l"><bdi class="farthing-text">${agreement.reference}</bdi> ${agreementTag(agreement.status)}</h1>
${liveNotice(visit, {
  list: `agreement:${agreement_id}`,
  version: versionOfPage(shown),
  href: address,
})}
${summaryList(rowsFor(agreement))}
${agreement.status !== 'cancelled' && !visit.hasEnded && cancelForm(visit, address)}
<h2 class="govuk-heading-m">Payments</h2>
${payments.length === 0 ? paragraph('No payment of the last 7 days was made with it.') : paymentsPart(root, payments)}`
  return { title: `Agreement ${agreement.reference}`, section: 'agreements', content }
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

const cancelForm = ({ account }: AccountVisit, address: string): Html =>
  html`${postForm(account, `${address}/cancel`, button({ id: 'cancel', text: 'Cancel the agreement', secondary: true }))}
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
