import { type ApiKey, checkAccountName, DEFAULT_ACCOUNT, listKeys } from '../accounts/store.ts'
import { insertAgreement } from '../agreements/store.ts'
import type { Config } from '../config.ts'
import { openDatabase } from '../database/open.ts'
import { refuseMemory } from '../database/sqlite/file.ts'
import { createNewId } from '../ids.ts'
import { insertPayment } from '../payments/store.ts'
import type { Database, Statement } from '../ports.ts'
import { insertRefund } from '../refunds/store.ts'
import { RETENTION_MS } from '../retention.ts'
import { createProgress, type Screen } from './progress.ts'
import { createHistory, type History } from './seed-history.ts'

export const SEED_HELP = `Usage:
  farthing seed --payments N [--account NAME]   makes N payments, with refunds and agreements

They are in every mode and state, as if made over the last six days: a day later the oldest are
gone. DATABASE_URL names the database; the service may be running, but no webhook is told.
`

const DAY = 24 * 60 * 60 * 1000

/** The oldest seeded payments have a day left to be looked at. */
const SPAN = RETENTION_MS - DAY

/** The newest are so old that all their steps are in the past, in milliseconds. */
const LATEST = 5 * 60 * 1000

/** Payments in one write: enough to make little of the journey, little enough to hold nobody up. */
const BATCH = 250
const MOST = 100_000_000

export type SeedOptions = {
  payments?: string | undefined
  account?: string | undefined
}

/** Runs `farthing seed` and answers the exit code; `screen` shows how far it is. */
export async function seedCommand(
  words: string[],
  { payments, account = DEFAULT_ACCOUNT }: SeedOptions,
  config: Config,
  print: (text: string) => number,
  screen: Screen,
): Promise<number> {
  if (payments === undefined || words.length > 0)
    throw new Error('usage: farthing seed --payments N [--account NAME] (farthing seed --help)')
  const count = Number(payments)
  if (!/^\d+$/.test(payments) || count < 1 || count > MOST)
    throw new Error(`--payments must be a number from 1 to ${MOST}`)
  checkAccountName(account)
  refuseMemory(config.database)
  const database = await openDatabase(config.database, {
    onUnknownOutcome: () => {},
    onConnectionError: () => {},
  })
  try {
    const progress = createProgress(count, screen, Date.now)
    await seed(database, account, count, progress)
    if (!(await mayBeSeen(database, account)))
      screen.write(`no key sees them yet: farthing keys create --account "${account}"\n`)
    return print(`made ${count} ${count === 1 ? 'payment' : 'payments'} in the account ${account}`)
  } finally {
    await database.close()
  }
}

/** The first start makes a key of the default account where there is none. */
async function mayBeSeen(database: Database, account: string): Promise<boolean> {
  const keys = await listKeys(database)
  const isOurs = (key: ApiKey) => key.account === account && key.revoked === null
  return account === DEFAULT_ACCOUNT || keys.some(isOurs)
}

/** While one batch is being written, the next is made. */
async function seed(
  database: Database,
  account: string,
  count: number,
  progress: (done: number) => void,
): Promise<void> {
  const newest = Date.now() - LATEST
  const next = createHistory(account, createNewId())
  let written: Promise<unknown> = Promise.resolve()
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done)
    const histories = Array.from({ length: size }, (_, i) =>
      next(done + i, Math.floor(newest - SPAN * (1 - (done + i) / count))),
    )
    await written
    progress(done)
    written = database.write(histories.flatMap(statementsOf))
  }
  await written
  progress(count)
}

const statementsOf = ({ payment, refunds, agreement }: History): Statement[] => [
  ...(agreement ? [insertAgreement(agreement)] : []),
  insertPayment(payment),
  ...refunds.map(insertRefund),
]
