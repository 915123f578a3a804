import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { signIn } from '../support/console.ts'
import { scratchFolder } from '../support/folders.ts'
import { createPostgresDatabase, withClient } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import { type Canaries, findCanaries, plant } from './secrets.ts'

/** Runs the service at log level trace. Returns its output, its stored data, the result of `visit` and the canaries. */
async function plantEverywhere(
  DATABASE_URL: string,
  look: () => Promise<string[]>,
  visit: (baseUrl: string, key: string) => Promise<Pages>,
): Promise<{ output: string; stored: string[]; pages: Pages; canaries: Canaries }> {
  const FARTHING_API_KEY = 'canary-key-of-the-default-account'
  const env = {
    DATABASE_URL,
    FARTHING_API_KEY,
    FARTHING_CALLBACK_HOSTS: 'localhost',
    FARTHING_WEBHOOK_URL: 'http://localhost:9/fixed',
    FARTHING_SIGNING_KEY,
    LOG_LEVEL: 'trace',
  }
  const farthing = await startProcess({ env })
  try {
    const made = await runHere({ env, args: ['keys', 'create'] })
    const first = await plant(farthing.baseUrl, FARTHING_API_KEY)
    const second = await plant(farthing.baseUrl, made.stdout.trim())
    await createClient([farthing.baseUrl], FARTHING_API_KEY).get('/v1/payments?reference=the-last')
    while (!(await look()).some(text => text.includes('the-last'))) await setTimeout(200)
    const pages = await visit(farthing.baseUrl, FARTHING_API_KEY)
    const whileRunning = await look()
    await farthing.terminate()
    const stored = [...whileRunning, ...(await look())]
    return { output: farthing.output(), stored, pages, canaries: both(first, second) }
  } finally {
    await farthing.kill()
  }
}

/** The text of pages by their paths below /console. */
type Pages = Map<string, string>

/** Every page of the console that links lead to. */
async function consolePages(baseUrl: string, key: string): Promise<Pages> {
  const root = `${baseUrl}/console/`
  const { get } = await signIn({ apps: [], baseUrls: [baseUrl] }, { key })
  const pages: Pages = new Map()
  const left = ['payments']
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (pages.has(path)) continue
    const { html, elements, location } = await get(path)
    pages.set(path, html)
    if (location !== undefined) left.push(location)
    for (const { attributes } of elements) {
      const url = new URL(attributes.href ?? '', root + path)
      // Neither the hash nor `back` leads to another page.
      url.hash = ''
      url.searchParams.delete('back')
      if (url.href.startsWith(root)) left.push(url.href.slice(root.length))
    }
  }
  return pages
}

/** Tokens are in the link to an open payment's page only, signing keys on their webhook's page only. */
function assertPagesHold(pages: Pages, canaries: Canaries): void {
  for (const kind of ['payments/', 'requests/', 'webhooks/', 'messages/', 'signature?'])
    assert.ok(
      [...pages.keys()].some(path => path.startsWith(kind)),
      kind,
    )
  for (const [path, html] of pages) {
    const { signingKeys, ...others } = canaries
    const shown = html.replace(/href="[^"]+\/secure\/[0-9a-v]{52}">Open the payment page/, '')
    const hidden = path.startsWith('webhooks/') ? others : { ...others, signingKeys }
    assert.deepEqual(findCanaries([shown], hidden), [], path)
  }
}

const FARTHING_SIGNING_KEY = 'canary-signing-key-of-the-settings'

const both = (first: Canaries, second: Canaries): Canaries => ({
  ...first,
  apiKeys: [...first.apiKeys, ...second.apiKeys],
  signingKeys: [...first.signingKeys, ...second.signingKeys, FARTHING_SIGNING_KEY],
  tokens: [...first.tokens, ...second.tokens],
})

/** The secrets that no database may hold. Tokens and signing keys must be stored, to be shown again. */
const unstorable = ({ cardNumbers, cvcs, apiKeys }: Canaries) => ({ cardNumbers, cvcs, apiKeys })

test('No secret is in a log line, in the files of SQLite or on a page of the console', async () => {
  const folder = scratchFolder()
  const files = async () =>
    readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'))
  const url = `sqlite:${join(folder, 'farthing.db')}`
  const { output, stored, pages, canaries } = await plantEverywhere(url, files, consolePages)
  assertPagesHold(pages, canaries)
  assert.deepEqual(findCanaries([output], canaries), [])
  assert.ok(
    stored.join('').includes('510573'),
    'the first six digits of the card are stored, so the search looks in the right place',
  )
  assert.deepEqual(findCanaries(stored, unstorable(canaries)), [])
  const exchanges = new DatabaseSync(join(folder, 'farthing.db'))
    .prepare(RECORDED)
    .all() as Recorded[] // the columns that the statement names
  assertRecorded(exchanges, canaries)
  assert.match(output, /"level":10,|"status":402/, 'there are log lines')
})

test('No secret is in a log line or in a row of PostgreSQL, nor in the log line of a database error, although PostgreSQL reports the row', async () => {
  const url = await createPostgresDatabase()
  const given = { reference: 'canary-reference', email: 'canary@example.org' }
  let token = ''
  const fail = async (baseUrl: string, key: string): Promise<Pages> => {
    const api = createClient([baseUrl], key)
    const { payment_id, _links } = await api.createPayment(given)
    token = _links.next_url_post.params.chargeTokenId
    const uncancellable = `alter table payments add check (status <> 'cancelled') not valid`
    await withClient(url, client => client.query(uncancellable))
    const answer = await api.post(`/v1/payments/${payment_id}/cancel`)
    assert.equal(answer.status, 500)
    assert.deepEqual(Object.keys(answer.body).sort(), ['code', 'description'])
    return new Map()
  }
  const { output, stored, canaries } = await plantEverywhere(url, () => rowsOf(url), fail)
  assert.match(
    output,
    /unexpected fault.*payments_status_check|payments_status_check.*unexpected fault/,
  )
  const ofError = { tokens: [token, token.slice(26)], texts: Object.values(given) }
  assert.deepEqual(findCanaries([output], canaries), [])
  assert.deepEqual(findCanaries([output], ofError), [])
  assert.ok(stored.join('').includes('510573'))
  assert.deepEqual(findCanaries(stored, unstorable(canaries)), [])
  const { rows } = await withClient(url, client => client.query<Recorded>(RECORDED))
  assertRecorded(rows, canaries)
})

const RECORDED = 'select * from exchanges'
type Recorded = { body: string }

/** No exchange may have a secret of any kind, not even secrets that other tables must hold. */
function assertRecorded(exchanges: Recorded[], canaries: Canaries): void {
  const operations = ['createPayment', 'authorisePayment', 'createWebhook', 'chooseScenario']
  const text = JSON.stringify(exchanges)
  for (const operation of operations) assert.ok(text.includes(operation), operation)
  const whole = exchanges.map(({ body }) => JSON.parse(body))
  assert.deepEqual(findCanaries([text, JSON.stringify(whole)], canaries), [])
}

const rowsOf = (url: string): Promise<string[]> =>
  withClient(url, async client => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    )
    const texts: string[] = []
    for (const { name } of tables)
      texts.push(JSON.stringify((await client.query(`select * from ${name}`)).rows))
    return texts
  })

test('A canary is found in plain text and as an array of bytes, but not inside a longer number', () => {
  const canaries = { apiKeys: ['canary-key'], cvcs: ['7319'] }
  const bytes = JSON.stringify(Buffer.from('Bearer canary-key'))
  assert.equal(findCanaries(['{"x":"canary-key"}'], canaries).length, 1)
  assert.equal(findCanaries([`{"raw":${bytes}}`], canaries).length, 1)
  assert.equal(findCanaries(['{"cvc":"7319"}'], canaries).length, 1)
  assert.deepEqual(findCanaries(['{"pid":7319,"ms":7319.5,"id":"a7319b-7319-x"}'], canaries), [])
})
