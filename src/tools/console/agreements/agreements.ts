/** The agreements of the account, making one, and the payments that set it up and charge it. */

import { timeOf } from '../../../core/ids.ts'
import { penceIn } from '../../../core/money.ts'
import type { Agreement, AgreementStatus } from '../../../pay/agreements/agreement.ts'
import { cancelAgreement, createAgreement } from '../../../pay/agreements/commands.ts'
import { agreementRows, findAgreement } from '../../../pay/agreements/store.ts'
import { readNewAgreement } from '../../../pay/agreements/wire.ts'
import { cancellableAgreements } from '../../../pay/differences/agreements.ts'
import type { Payment } from '../../../pay/payments/payment.ts'
import { daysKept } from '../../../pay/retention.ts'
import { findPart, inRange, where } from '../../../platform/database/select.ts'
import {
  backLink,
  button,
  buttonLink,
  details,
  summaryList,
  tag,
} from '../../../platform/web/components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import { findPayments } from '../../lists/find-payments-store.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { fieldParts, submit, type Typed, textIn } from '../frame/form.ts'
import { type PageVisit, pageLinks, readPage } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import * as ui from '../frame/parts.ts'
import { existing } from '../frame/visit.ts'
import { backAddress, main, readyMade, scenarioField, submitPayment } from '../payments/new.ts'
import { paymentTable } from '../payments/payments.ts'

export const agreements = definePage({
  path: 'agreements',
  navigation: 'Agreements',
  read: ({ context: { database }, account, cursor }) =>
    readPage<Agreement>(cursor, 'agreement_id', (range, part) => {
      const ofAccount = [where('account = ?', account.room), ...inRange('agreement_id', range)]
      return findPart(database, agreementRows, ofAccount, part)
    }),
  show: (visit, page) =>
    html`${!visit.hasEnded && buttonLink('make-agreement', 'Make an agreement', `${visit.root}agreements/new`)}
${page.items.length > 0 ? table(visit.root, page.items) : ui.emptyState(visit, 'There are no agreements', 'make one', 'agreements/new')}
${pageLinks(visit, 'Agreements', page)}`,
  live: true,
  entries: page => page.ids,
})

const agreementTag = (status: AgreementStatus): Html =>
  tag(status, status === 'active' ? 'green' : 'grey')

const table = (root: string, agreements: readonly Agreement[]): Html =>
  ui.wideTable(agreements, {
    caption: 'Agreements, newest first',
    at: ({ agreement_id }) => timeOf(agreement_id),
    columns: {
      Reference: ({ agreement_id, reference }) =>
        ui.link(`${root}agreements/${agreement_id}`, ui.untrusted(reference)),
      Status: ui.leading(({ status }) => agreementTag(status)),
      Description: ({ description }) => ui.untrusted(description),
      Card: ({ instrument }) =>
        instrument
          ? `${instrument.card.card_brand} … ${instrument.card.last_digits_card_number}`
          : 'none',
      Created: ({ agreement_id }) => ui.timeOfDay(timeOf(agreement_id)),
    },
  })

const fields = { reference: main.reference, description: main.description }

export const newAgreement = definePage({
  path: 'agreements/new',
  title: 'Make an agreement',
  makes: true,
  show: (visit, _, typed?: Typed) =>
    actionForm(
      visit,
      'agree',
      html`${fieldParts(typed, fields)}${button({ id: 'make-agreement', text: 'Make the agreement' })}`,
    ),
  actions: { agree },
})

async function agree(visit: PageVisit): Promise<Next | Typed> {
  const { context, account, form } = visit
  const body = Object.fromEntries(Object.keys(fields).map(name => [name, textIn(form, name)]))
  return submit(visit, { fields, body, read: readNewAgreement }, async agreement => {
    const { agreement_id } = await createAgreement(context, account, agreement)
    return { to: `agreements/${agreement_id}`, done: 'agreed' }
  })
}

const MOST_PAYMENTS = 50

export const agreement = definePage({
  path: 'agreements/{agreement_id}',
  async read({ context: { database }, account, now, id }) {
    const agreement = existing(await findAgreement(database, account.room, id))
    const search = { account, now, filter: { agreement_id: id } }
    const part = { limit: MOST_PAYMENTS + 1, order: 'newest' } as const
    const payments = await findPayments(database, search, {}, part)
    return { agreement, payments }
  },
  title: (_, { agreement }) => `Agreement ${agreement.reference}`,
  heading: (_, { agreement: { reference, status } }) =>
    html`${ui.untrusted(reference)} ${agreementTag(status)}`,
  above: ({ root }) => backLink(`${root}agreements`, 'Agreements'),
  show(visit, { agreement, payments }, refused?: Typed) {
    const { status } = agreement
    const toDo = status === 'created' ? 'set it up above' : status === 'active' && 'charge it above'
    return html`${payForms(visit, agreement, refused)}
${summaryList(rowsFor(agreement))}
${cancellableAgreements[visit.account.behaviour].includes(status) && cancelForm(visit)}
<h2 class="govuk-heading-m">Payments</h2>
${payments.length > 0 ? paymentsPart(visit.root, payments) : ui.emptyState(visit, `No payment of the last ${daysKept(visit.account.behaviour)} days was made with it`, toDo)}`
  },
  live: true,
  actions: { cancel, 'set-up': setUp, charge },
})

const named = { reference: 'CONSOLE-AGREEMENT', description: 'A payment made in the console' }

function setUp(visit: PageVisit): Promise<Next | Typed> {
  const more = { set_up_agreement: visit.id, return_url: backAddress(visit) }
  return submitPayment(visit, { amount: 1450, ...named, ...more }, readyMade.paid)
}

function charge(visit: PageVisit): Promise<Next | Typed> {
  const amount = penceIn(visit.form.get('amount') ?? '')
  const more = { agreement_id: visit.id, authorisation_mode: 'agreement' }
  return submitPayment(visit, { amount, ...named, ...more })
}

async function cancel(visit: PageVisit): Promise<Next | Typed> {
  const { context, account, id } = visit
  existing(await findAgreement(context.database, account.room, id))
  // The page of a refusal has no button to which its error could lead.
  const fields = { 'main-content': { label: 'Cancel', right: {} } }
  return submit(visit, { fields, body: {}, read: () => undefined }, async () => {
    await cancelAgreement(context, account, id)
    return { to: `agreements/${id}`, done: 'agreement-cancelled' }
  })
}

function rowsFor(agreement: Agreement) {
  const { agreement_id, description, user_identifier, cancelled_at, instrument } = agreement
  const card = instrument?.card
  return ui.summaryRows('agreement', {
    Description: ui.untrusted(description),
    'User identifier': user_identifier !== undefined && ui.untrusted(user_identifier),
    'Date created': ui.time(timeOf(agreement_id)),
    'Date cancelled': cancelled_at !== undefined && ui.time(cancelled_at),
    'Agreement ID': ui.code(agreement_id),
    Card: card
      ? html`${card.card_brand} ${card.first_digits_card_number ?? ''} … ${card.last_digits_card_number}, expires ${card.expiry_date}, ${ui.untrusted(card.cardholder_name ?? '')}`
      : 'none yet: a payment that sets the agreement up brings one',
    'Set up': instrument && ui.time(instrument.at),
  })
}

function payForms(visit: PageVisit, { status }: Agreement, refused: Typed | undefined) {
  if (status === 'created')
    return html`${actionForm(visit, 'set-up', button({ id: 'set-up', text: 'Set it up with a paid payment' }))}${refused?.errors.amount && ui.paragraph(ui.untrusted(refused.errors.amount))}`
  if (status !== 'active') return false
  const charged = { amount: main.amount, ...scenarioField(visit, 'Charge', 'paid') }
  return actionForm(
    visit,
    'charge',
    html`${fieldParts(refused, charged, { amount: '14.50' })}${button({ id: 'charge', text: 'Charge it' })}`,
  )
}

const cancelForm = (visit: PageVisit): Html | false =>
  !visit.hasEnded &&
  details(
    'Cancel the agreement',
    html`${ui.paragraph('No payment can be made with a cancelled agreement.')}
${actionForm(visit, 'cancel', button({ id: 'cancel', text: 'Cancel it', secondary: true }))}`,
    { id: 'cancellation' },
  )

function paymentsPart(root: string, payments: readonly Payment[]): Html {
  const newest = payments.slice(0, MOST_PAYMENTS)
  return html`${paymentTable({
    caption: 'Payments with the agreement, newest first',
    payments: newest,
    addressOf: ({ payment_id }) => `${root}payments/${payment_id}`,
    more: { 'Made to': ({ given }) => (given.set_up_agreement ? 'set it up' : 'take a payment') },
  })}
${payments.length > newest.length && ui.paragraph(`The newest ${MOST_PAYMENTS} are shown.`)}`
}
