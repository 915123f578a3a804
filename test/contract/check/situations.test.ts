import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import * as library from '../../../src/testing/library.ts'
import type { Account, Farthing, Payment, Receiver } from '../../../src/testing/public.d.ts'
import { situationsOf } from '../../../src/tools/explain/check/situations.ts'
import { type Service, startService } from '../../support/service.ts'

const KEY = 'key-of-the-situations'
const web = { amount: 100, reference: 'R', description: 'D', return_url: 'https://a.example/back' }

const names = situationsOf({ exchanges: [], webhooks: [], open: [] } as never).map(
  ({ situation }) => situation,
)

describe('The line of the library that makes a situation', () => {
  let service: Service
  let farthing: Farthing
  before(async () => {
    const env = { FARTHING_API_KEY: KEY, FARTHING_CALLBACK_HOSTS: '127.0.0.1,localhost' }
    service = await startService('sqlite', { control: true, env })
    farthing = await library.connectFarthing({ url: service.baseUrl, key: KEY })
  })
  after(() => service.stop())

  const seenIn = async (account: Account, name: string) => {
    const { situations } = await account.check()
    return situations.find(({ situation }) => situation === name) ?? assert.fail(name)
  }

  /** The variables of a test in which the line stands. */
  async function writeTest(account: Account) {
    const receiver = await account.receive()
    const { body: agreement } = await account.send('POST', '/v1/agreements', {
      reference: 'R',
      description: 'D',
    })
    const { agreement_id } = agreement
    const { body } = await account.send('POST', '/v1/payments', {
      ...web,
      set_up_agreement: agreement_id,
    })
    await account.complete(body.payment_id, 'success')
    const paid = await account.payment({ scenario: 'success' })
    const authorised = await account.payment({ scenario: 'success', delayed_capture: true })
    const payment = await account.payment()
    await account.settled()
    return { account, receiver, agreement_id, paid, authorised, payment }
  }

  type Test = Awaited<ReturnType<typeof writeTest>>

  /** The steps of the application, by the end of a line. */
  const application: Record<string, (test: Test) => Promise<unknown>> = {
    'create a payment and open its next_url': async ({ account }) => {
      const { body } = await account.send('POST', '/v1/payments', web)
      await fetch(body._links.next_url.href, { redirect: 'manual' })
    },
    // A plan may reset its connection.
    'create a payment': ({ account }) => account.send('POST', '/v1/payments', web).catch(() => {}),
    'take a payment with the agreement': charge,
    'take a payment with the agreement twice': async test => {
      await charge(test)
      await charge(test)
    },
    'capture that payment': ({ account, authorised }) =>
      account.send('POST', `/v1/payments/${authorised.payment_id}/capture`),
    'refund a payment': refund,
    'refund a payment, and read the refund later': async test => {
      const { account, paid } = test
      const { body } = await refund(test)
      await account.clock.advance('1h')
      await account.send('GET', `/v1/payments/${paid.payment_id}/refunds/${body.refund_id}`)
    },
    // A user pays, and the receiver gets the messages.
    '': async ({ account }) => {
      await account.payment({ scenario: 'success' })
      await account.settled().catch(() => {})
    },
  }

  for (const name of names)
    test(`makes this one: ${name}`, async () => {
      const account = await farthing.account()
      const variables = await writeTest(account)
      const { met, library: line } = await seenIn(account, name)
      assert.equal(met, false)
      const [code = '', then = ''] = line.split('; then let your application ')
      for (const step of code.split(', then ')) {
        await run(step, variables)
        await (application[then] ?? assert.fail(line))(variables)
      }
      assert.equal((await seenIn(account, name)).met, true, line)
      await account[Symbol.asyncDispose]()
    })
})

function charge({ account, agreement_id }: { account: Account; agreement_id: string }) {
  return account.send('POST', '/v1/payments', {
    amount: 100,
    reference: 'R',
    description: 'D',
    authorisation_mode: 'agreement',
    agreement_id,
  })
}

function refund({ account, paid }: { account: Account; paid: Payment }) {
  return account.send('POST', `/v1/payments/${paid.payment_id}/refunds`, {
    amount: 100,
    refund_amount_available: paid.amount,
  })
}

/** Runs the code with the variables of a test. */
async function run(
  code: string,
  { account, payment, receiver }: { account: Account; payment: Payment; receiver: Receiver },
): Promise<void> {
  const parameters = ['account', 'payment', 'receiver']
  const body = new Function(...parameters, `return (async () => { ${code} })()`)
  await body(account, payment, receiver)
}

test('a receiver is back once it takes a message, not when farthing listen prints one', () => {
  const isMet = (facts: { printed?: true }) => {
    const attempt = { kind: 'out', exchange_id: 'one', webhook_id: 'a webhook', at: 0 }
    const exchanges = [
      { ...attempt, status: 503 },
      { ...attempt, status: 200, ...facts },
    ]
    const situations = situationsOf({ exchanges, webhooks: [], open: [] } as never)
    return situations.find(({ situation }) => situation === 'The receiver is down for a while')?.met
  }
  assert.deepEqual([isMet({}), isMet({ printed: true })], [true, false])
})
