/** All commands of the model test, and what happens between requests: time passes, services stop and start. */
import fc from 'fast-check'
import { nthNewest, type World } from './model.ts'
import {
  agree,
  agreeFaultily,
  cancelAgreement,
  faultyAgreements,
  readAgreement,
  searchAgreements,
} from './model-agreements.ts'
import {
  account,
  asker,
  command,
  maybe,
  nth,
  oneOf,
  page,
  references,
  target,
  weighted,
} from './model-choices.ts'
import { paymentCommands } from './model-commands-payments.ts'
import { searchPayments } from './model-payment-search.ts'
import { searchRefunds } from './model-refunds.ts'
import { restart, type Subject, take } from './model-run.ts'
import { searchDisputes } from './model-search.ts'
import {
  deliver,
  eventTypes,
  type Manners,
  readMessages,
  readWebhook,
  register,
  removeWebhook,
  searchWebhooks,
} from './model-webhooks.ts'

const agreementCommands = weighted(
  [
    10,
    command(
      'make an agreement',
      fc.record({
        account,
        reference: oneOf(...references),
        user: maybe(oneOf('member-118')),
        fault: maybe(fc.nat(faultyAgreements.length - 1), 20),
      }),
      (world, { account, reference, user, fault }) =>
        fault === undefined
          ? agree(world, account, { reference, description: 'Monthly', user_identifier: user })
          : agreeFaultily(account, fault),
    ),
  ],
  [
    4,
    command('read an agreement', target, (world, { nth, stranger }) => {
      const agreement = nthNewest(world.agreements, nth)
      return readAgreement(asker(agreement, stranger), agreement)
    }),
  ],
  [
    3,
    command('cancel an agreement', target, (world, { nth, stranger }) => {
      const agreement = nthNewest(world.agreements, nth)
      return cancelAgreement(world, asker(agreement, stranger), agreement)
    }),
  ],
)

const badUrls = ['', 'http://hooks.example.org/x', 'https://localhost/x', 'https://10.1.2.3/x', 'x']

const registering = command(
  'register a webhook',
  fc.record({
    account,
    manners: oneOf<Manners>('accepts', 'accepts', 'hesitates', 'refuses'),
    description: maybe(oneOf('Ledger feed', '')),
    subscriptions: maybe(
      oneOf(...[['card_payment_captured', 'card_payment_refunded'], ['card_payment_settled'], []], [
        ...eventTypes,
        ...eventTypes,
      ]),
    ),
    badUrl: maybe(oneOf(...badUrls), 15),
  }),
  (world, wanted) => register(world, wanted),
)

const webhookCommands = weighted(
  [5, registering],
  [
    2,
    command('read a webhook', target, (world, { nth, stranger }) => {
      const webhook = nthNewest(world.webhooks, nth)
      return readWebhook(asker(webhook, stranger), webhook)
    }),
  ],
  [
    2,
    command('remove a webhook', target, (world, { nth, stranger }) => {
      const webhook = nthNewest(world.webhooks, nth)
      return removeWebhook(asker(webhook, stranger), webhook)
    }),
  ],
  [
    5,
    command('read messages', fc.record({ target, ...page }), (world, { target, ...query }) => {
      const webhook = nthNewest(world.webhooks, target.nth)
      return readMessages(world, asker(webhook, target.stranger), webhook, query)
    }),
  ],
)

const DAY = 24 * 60 * 60 * 1000
const seldom = <Value>(...values: Value[]) => maybe(oneOf(...values), 25)

const paymentSearching = command(
  'search payments',
  fc.record({
    account,
    state: seldom('created', 'success', 'failed', 'capturable', 'paid', ' '),
    reference: seldom(...references),
    email: seldom('EXAMPLE', '_', '%', '@example.COM'),
    card_brand: seldom('visa', 'master-card', 'Visa', 'unionpay'),
    cardholder_name: seldom('demo', "O'N", 'a'),
    agreement: maybe(nth, 20),
    ago: maybe(oneOf(0, 1, 5_000, DAY, 7 * DAY), 20),
    until: maybe(oneOf(0, 5_000), 20),
    first_digits: seldom('424242', '400000', '42424'),
    last_digits: seldom('4242', '0002', '42a2'),
    ...page,
  }),
  (world, { account, agreement, ago, until, ...query }) =>
    searchPayments(world, account, {
      ...query,
      ...(agreement !== undefined && {
        agreement: nthNewest(world.agreements, agreement) ?? ('unknown' as const),
      }),
      ...(ago !== undefined && { from: world.now - ago }),
      ...(until !== undefined && { to: world.now - until }),
    }),
)

const searchCommands = weighted(
  [8, paymentSearching],
  [
    3,
    command(
      'search refunds',
      fc.record({
        account,
        ago: maybe(oneOf(0, 5_000, DAY), 35),
        settled: seldom('2026-09-01', 'yesterday', ' '),
        ...page,
      }),
      (world, { account, ago, ...query }) =>
        searchRefunds(world, account, {
          ...query,
          ...(ago !== undefined && { from: world.now - ago }),
        }),
    ),
  ],
  [
    3,
    command(
      'search agreements',
      fc.record({
        account,
        status: seldom('active', 'created', 'cancelled', 'inactive', 'ACTIVE'),
        reference: seldom(...references),
        ...page,
      }),
      (world, { account, ...query }) => searchAgreements(world, account, query),
    ),
  ],
  [
    1,
    command('search webhooks', fc.record({ account, ...page }), (world, { account, ...query }) =>
      searchWebhooks(world, account, query),
    ),
  ],
  [
    1,
    command(
      'search disputes',
      fc.record({ account, status: seldom('lost', 'won', 'closed'), ...page }),
      (_world, { account, status, ...query }) => searchDisputes(account, status, query),
    ),
  ],
)

type ModelCommand = fc.AsyncCommand<World, Subject[]>

/** Something that happens between requests. */
const event = (words: string, happen: (world: World, subjects: Subject[]) => Promise<void>) =>
  fc.constant<ModelCommand>({ check: () => true, run: happen, toString: () => words })

const waiting = (...choices: number[]) =>
  oneOf(...choices).map(
    (ms): ModelCommand => ({
      check: () => true,
      run: async world => {
        world.now += ms
      },
      toString: () => `wait ${ms} ms`,
    }),
  )

const dying = (attempts: 0 | 1) =>
  event(`from now on die after ${attempts} attempts`, async (world, subjects) => {
    world.attempts = attempts
    for (const { service } of subjects) service.dieAfter(attempts)
  })

/** What the dead process had claimed is free again within 10 seconds. */
export async function restartAll(world: World, subjects: Subject[]): Promise<void> {
  world.now += world.attempts < 2 ? 10_000 : 1
  world.attempts = 2
  for (const message of world.messages) deliver(world, message)
  await restart(world, subjects)
}

const sweeping = event('sweep', async (_world, subjects) => {
  await Promise.all(subjects.map(({ service }) => service.sweep()))
})

/** Up to `most` commands. */
export function modelCommands(most: number) {
  const steps = weighted(
    [60, paymentCommands],
    [8, agreementCommands],
    [8, webhookCommands],
    [12, searchCommands],
  ).map(
    ({ words, step }): ModelCommand => ({
      check: () => true,
      run: (world, subjects) => take(world, subjects, step(world)),
      toString: () => words,
    }),
  )
  const all = fc.oneof(
    { weight: 200, arbitrary: steps },
    // Times around those at which something changes: 5 seconds and 7 days.
    { weight: 16, arbitrary: waiting(1, 999, 4_999, 5_000, 60_000) },
    { weight: 1, arbitrary: waiting(DAY, 7 * DAY - 60_000, 7 * DAY - 1, 7 * DAY) },
    { weight: 2, arbitrary: event('restart', restartAll) },
    { weight: 1, arbitrary: dying(0) },
    { weight: 1, arbitrary: dying(1) },
    { weight: 1, arbitrary: sweeping },
  )
  return fc.commands([all], { maxCommands: most, size: 'max' })
}
