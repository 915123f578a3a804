import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { Behaviour } from '../../../src/core/account.ts'
import * as library from '../../../src/testing/library.ts'
import type { Account, Farthing } from '../../../src/testing/public.d.ts'
import { hasCurl } from '../../recorder/curl.ts'
import { type Application, createApplication } from '../../support/application.ts'
import { runHere } from '../../support/command.ts'
import { signIn } from '../../support/console.ts'
import { tempFolder } from '../../support/folders.ts'
import { COMMAND } from '../../support/process.ts'
import { type Service, startService } from '../../support/service.ts'
import { holdAttempts } from '../../support/time.ts'

const KEY = 'key-of-the-situations'
const run = promisify(execFile)

/** Situations that come with another: the first decline that makes an agreement inactive, and the rest of a probe. */
const OF_PROBES = [
  'A message is as GOV.UK Pay prints it',
  'A message comes twice',
  'What is asked for does not exist: 404',
]
const ALSO: Record<string, string[]> = {
  'The agreement is inactive when a payment is taken with it': [
    'A recurring payment is declined for good',
  ],
  'A message comes twice': OF_PROBES,
}

const stateOf = async (account: Account) =>
  new Map((await account.check()).situations.map(each => [each.situation, each] as const))

type Language = 'bash' | 'node'
type Place = { service: Service; farthing: Farthing; account: Account }

/** Runs a line as it is printed, in the shell of a person or in a test. Returns what it prints. */
async function runLine(language: Language, line: string, { service, farthing, account }: Place) {
  if (language === 'node') {
    const body = `return (async () => { ${line}\n})()`
    await new Function('account', 'farthing', body)(account, farthing)
    return ''
  }
  const { PATH = '' } = process.env
  const own = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY: account.key }
  const env = { PATH, HOME: tempFolder(), ...own }
  const command = `farthing() { "${process.execPath}" "${COMMAND}" "$@" || [ $? = 3 ]; }\n${line}`
  const { stdout } = await run('bash', ['-c', command], { env })
  assert.doesNotMatch(stdout, /"code":"C\d/, line)
  return stdout
}

/** Whether a line makes the application meet the situation, and which others it meets beside those in ALSO. */
async function meet(language: Language, name: string, place: Place) {
  const { service, account } = place
  await using application = createApplication(service, account)
  await application.prepare(name)
  const earlier = await stateOf(account)
  const { met, ...lines } = earlier.get(name) ?? assert.fail(name)
  const line = language === 'bash' ? lines.line : lines.library
  const printed = await runLine(language, line, place)
  if (line.includes(ELSEWHERE)) {
    if (printed) assert.equal(JSON.parse(printed).behaviour, 'govuk-pay')
    return { name, before: met, after: 'elsewhere', others: [] }
  }
  const [, then = ''] = /(?:#|\/\/) (?:then )?(?:let your application )?(.*)$/.exec(line) ?? []
  await (application.acts[then] ?? assert.fail(line))()
  const later = await stateOf(account)
  const news = [...later].filter(([each, { met }]) => met && !earlier.get(each)?.met)
  const others = news
    .map(([each]) => each)
    .filter(each => ![name, ...(ALSO[name] ?? [])].includes(each))
  return { name, before: met, after: later.get(name)?.met, others }
}

const ELSEWHERE = 'run your tests with its key'

async function start(t: TestContext) {
  const env = { FARTHING_API_KEY: KEY, FARTHING_CALLBACK_HOSTS: '127.0.0.1,localhost' }
  const service = await startService('sqlite', { control: true, env })
  t.after(() => service.stop())
  const farthing = await library.connectFarthing({ url: service.baseUrl, key: KEY })
  return { service, farthing }
}

async function startApplication(t: TestContext, behaviour: Behaviour = 'specification') {
  const { service, farthing } = await start(t)
  const account = await farthing.account({ behaviour })
  const application = createApplication(service, account)
  t.after(() => application[Symbol.asyncDispose]())
  return { service, account, application }
}

/** The lines are the same for both behaviours, but for the situations that only one of them has. */
const trials = [
  ['node', 'specification', 'all'],
  ['bash', 'govuk-pay', 'all'],
  ['bash', 'specification', 'those of govuk-pay'],
  ['node', 'govuk-pay', 'those of govuk-pay'],
] as const

describe('The line of a situation causes it, and no other', { concurrency: true }, () => {
  for (const [language, behaviour, which] of trials)
    test(`in ${language}, in an account of ${behaviour}: ${which}`, {
      skip: language === 'bash' && !hasCurl && 'curl is not installed here',
    }, async t => {
      holdAttempts(t)
      const { service, farthing } = await start(t)
      const states = await stateOf(await farthing.account({ behaviour: 'specification' }))
      const isElsewhere = (name: string) => states.get(name)?.line.includes(ELSEWHERE) === true
      const names = [...states.keys()].filter(name => which === 'all' || isElsewhere(name))
      const [found, expected]: [unknown[], unknown[]] = [[], []]
      for (const name of names) {
        await using account = await farthing.account({ behaviour })
        const { others, ...met } = await meet(language, name, { service, farthing, account })
        // Under govuk-pay no message waits for another.
        const anyOrder = behaviour === 'govuk-pay' && 'Messages come out of order'
        found.push({ ...met, others: others.filter(other => other !== anyOrder) })
        const after = behaviour === 'govuk-pay' || !isElsewhere(name) ? true : 'elsewhere'
        expected.push({ name, before: false, after, others: [] })
      }
      assert.deepEqual(found, expected)
    })
})

type Act = (place: Place & { application: Application }) => Promise<unknown>

/** Acts that could be mistaken for each situation. */
const lookalikes: Record<string, Record<string, Act>> = {
  'A card is declined': {
    'a declined payment that control made': ({ account }) =>
      account.payment({ scenario: 'declined' }),
    'a recurring payment that is declined': async ({ application }) => {
      await application.prepare('recurring')
      await application.plan({ scenario: 'declined' })
      await application.charge()
    },
    'a message about a recurring payment that is declined': async ({ account, application }) => {
      await application.prepare('recurring')
      await application.prepare('message')
      application.ignore()
      await application.plan({ scenario: 'declined', can_retry: true })
      await application.charge()
      await account.settled({ timeout: '30s' })
    },
    'a declined payment of a command, which a search lists': async ({ service, account }) => {
      const env = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY: account.key }
      assert.equal((await runHere({ args: ['pay', 'declined'], env })).code, 0)
      await account.send('GET', '/v1/payments')
    },
  },
  'A recurring payment is declined for good': {
    'one that is declined, may be tried again and is not read': async ({ application }) => {
      await application.prepare('recurring')
      await application.plan({ scenario: 'declined', can_retry: true })
      await application.charge()
    },
  },
  'The user cancels': {
    'a cancel in a browser, and nobody reads it': async ({ account, application }) => {
      await application.plan({ scenario: 'cancel' })
      const made = await application.create()
      await fetch(made._links.next_url.href, { redirect: 'manual' })
      await account.payment({ scenario: 'cancel' })
    },
  },
  'A payment that was authorised expires': {
    'a message about one that was open': async ({ account, application }) => {
      await application.prepare('message')
      application.ignore()
      await application.create()
      await account.clock.advance('90m')
      await account.settled({ timeout: '30s' })
    },
  },
  'The agreement is inactive when a payment is taken with it': {
    'an unknown and a cancelled agreement': async ({ application }) => {
      await application.charge('0'.repeat(26))
      await application.prepare('recurring')
      await application.post(`/v1/agreements/${application.agreement()}/cancel`)
      await application.charge()
    },
  },
  'An answer is lost, and the request has taken effect': {
    'a page whose answer is reset': async ({ application }) => {
      await application.plan({ on: 'openPaymentPage', reset: true, when: 'after' })
      const made = await application.create()
      await fetch(made._links.next_url.href).catch(() => {})
    },
    'an answer that is lost before the request took effect': async ({ application }) => {
      await application.plan({ on: 'createPayment', reset: true })
      await application.create().catch(() => {})
    },
  },
  'A message comes twice': {
    'a message of a probe that is refused when it comes again': async ({
      application,
      ...place
    }) => {
      await application.prepare('message')
      application.refuseAgain()
      const { library } = (await stateOf(place.account)).get('A message comes twice') ?? {}
      await runLine('node', library ?? assert.fail(), place)
    },
    'a repeated message that is refused': async ({ account, application }) => {
      await application.prepare('message')
      const { body } = await account.send('GET', '/control/messages')
      application.answer(409)
      await account.send('POST', `/control/messages/${body.results[0].message_id}/send`, {})
    },
  },
  'What is asked for does not exist: 404': {
    'a path that does not exist': ({ account }) => account.send('GET', '/v1/nothing'),
  },
  'A refund fails after it was accepted': {
    'a refund that fails and is not read': async ({ account, application }) => {
      await application.plan({ on: 'refundPayment', scenario: 'error' })
      await application.refund()
      await account.clock.advance('1h')
    },
  },
  'A payment is captured days after it was made': {
    'a capture on the day of the payment': async ({ account, application }) => {
      const id = await application.pay({ delayed_capture: true })
      await account.clock.advance('23h')
      await application.post(`/v1/payments/${id}/capture`)
    },
  },
  'The receiver is down for a while': {
    'a receiver of the library that was down': async ({ account }) => {
      await using receiver = await account.receive()
      receiver.answer(503)
      await account.payment({ scenario: 'success' })
      receiver.answer(200)
      await account.payment({ scenario: 'success' })
    },
  },
}

test('An exchange that only looks like a situation does not meet it', async t => {
  const { service, farthing } = await start(t)
  for (const [situation, acts] of Object.entries(lookalikes))
    for (const [what, act] of Object.entries(acts)) {
      const behaviour = /expires/.test(situation) ? 'govuk-pay' : 'specification'
      await using account = await farthing.account({ behaviour })
      await using application = createApplication(service, account)
      await act({ service, farthing, account, application })
      assert.equal((await stateOf(account)).get(situation)?.met, false, what)
    }
})

test('Where the reaction to a message in GOV.UK Pay’s format is unknown, the evidence is a message of a failed payment', async t => {
  const { service, account, application } = await startApplication(t, 'govuk-pay')
  application.ignore()
  await application.prepare('message')
  await application.plan({ scenario: 'declined' })
  await application.acts['create a payment, send a user to next_url and read the payment']?.()
  await account.settled({ timeout: '30s' })
  await application.pay()
  await account.settled({ timeout: '30s' })
  await account.send('GET', '/v1/nothing')
  const states = await stateOf(account)
  assert.equal(states.get('What is asked for does not exist: 404')?.met, false)
  const { met, evidence } = states.get(OF_PROBES[0] ?? '') ?? {}
  const browser = await signIn(service, { key: account.key })
  assert.equal(met, null)
  const { location } = await browser.get(`requests/${evidence}`)
  assert.match((await browser.get(location ?? '')).text, /card_payment_failed/)
})

test('Of messages that come together each is met where the application reads their payment as often', async t => {
  const { account, application } = await startApplication(t)
  application.ignore()
  await application.prepare('message')
  const { body } = await account.send('GET', '/control/messages')
  const [{ message_id, payment_id }, ...others] = body.results
  const read = () => account.send('GET', `/v1/payments/${payment_id}`)
  assert.equal(others.length, 1)
  await read()
  await read()
  await account.send('POST', `/control/messages/${message_id}/send`, {})
  await read()
  assert.equal((await stateOf(account)).get('A message comes twice')?.met, true)
})

test('It stays unknown whether a receiver that answers 2xx has noticed a repeated message, if only polls of its application follow', async t => {
  const { service, account, application } = await startApplication(t)
  await application.prepare('message')
  application.ignore()
  const { body } = await account.send('GET', '/control/messages')
  const [{ message_id, payment_id }] = body.results
  const poll = () => account.send('GET', `/v1/payments/${payment_id}`)
  await poll()
  await account.send('POST', `/control/messages/${message_id}/send`, {})
  await poll()
  const { met, evidence, line } = (await stateOf(account)).get('A message comes twice') ?? {}
  assert.deepEqual([met, typeof evidence], [null, 'string'])
  assert.match(line ?? '', /^# your receiver answered 2xx, .* look in its log/)
  const file = join(tempFolder(), 'check.xml')
  const env = { FARTHING_URL: service.baseUrl, FARTHING_API_KEY: account.key }
  const print = async (...args: string[]) =>
    (await runHere({ args: ['check', ...args], env })).stdout
  assert.match(await print('--junit', file), /: \d+ of \d+ met, 1 cannot be seen\. --situations/)
  assert.match(
    await print('--situations'),
    /^cannot be seen {2}A message comes twice\n {16}http\S+\n {16}your receiver answered 2xx, /m,
  )
  const ofJunit = /^cannot be seen: A message comes twice \([0-9a-v]{26}\) your receiver answered/m
  assert.match(readFileSync(file, 'utf8'), ofJunit)
  const browser = await signIn(service, { key: account.key })
  const page = await browser.get((await browser.get('check')).location ?? '')
  const row = /A message comes twice ?Cannot be seen: [\d :-]+ ?your receiver answered 2xx, /
  assert.match(page.text, row)
})
