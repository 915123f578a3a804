/** An application that takes payments, with its users and its receiver. */
import type { Account } from '../../src/testing/public.d.ts'
import { hex, signatureIn } from './checking-receivers.ts'
import { type Answer, type Receiver, startReceiver } from './receiver.ts'
import type { Service } from './service.ts'

const web = {
  amount: 500,
  reference: 'R',
  description: 'D',
  return_url: 'https://shop.example.org/back',
}

export type Application = ReturnType<typeof createApplication>

/** The receiver of the application checks signatures, and reads the payment of each message before it answers. */
export function createApplication({ clock }: Pick<Service, 'clock'>, account: Account) {
  let [agreement, payment_id, key, isDeaf] = ['', '', '', false]
  const answers: number[] = []
  let receiver: Receiver | undefined
  /** The messages that the receiver has. Undefined: it takes a message again. */
  let seen: Set<string> | undefined
  /** Each request takes a tenth of a second, because production takes fewer than 15 in a second. */
  const send = (method: string, path: string, body?: object) => {
    clock.advance(100)
    return account.send(method, path, body)
  }
  const post = async (path: string, body?: object) => (await send('POST', path, body)).body
  const read = (id: string) => send('GET', `/v1/payments/${id}`)
  const create = (more: object = {}) => post('/v1/payments', { ...web, ...more })
  const pay = async (more?: object) => {
    const made = await create(more)
    await account.complete(made.payment_id, 'success')
    await account.clock.advance('5s')
    return made.payment_id as string
  }
  const refund = async () => {
    const id = await pay()
    const asked = { amount: 100, refund_amount_available: 500 }
    return { id, refund: await post(`/v1/payments/${id}/refunds`, asked) }
  }
  const charge = async (agreement_id = agreement) => {
    const how = { authorisation_mode: 'agreement', agreement_id }
    const { return_url, ...fields } = web
    return (await post('/v1/payments', { ...fields, ...how })).payment_id as string
  }
  const register = async () => {
    const callback_url = `http://127.0.0.1:${receiver?.port}/hook`
    key = (await post('/control/webhooks', { callback_url })).signing_key
  }
  const settle = () => account.settled({ timeout: '30s' })
  const onRequest = async ({ request, response }: Answer) => {
    const isTrue = signatureIn(request) === hex(request.body, key)
    const { webhook_message_id: id, resource_id } = isTrue ? JSON.parse(request.body) : {}
    const isAgain = seen?.has(id) === true
    seen?.add(id)
    const status = isTrue ? (answers.shift() ?? (isAgain ? 409 : 200)) : 401
    if (status === 200 && !isDeaf) await read(resource_id).catch(() => {})
    response.writeHead(status).end()
  }
  return {
    /** Makes the state in which the line is read: an account with a past, an agreement, a receiver. */
    async prepare(name: string) {
      if (/recurring|agreement/.test(name)) {
        agreement = (await post('/v1/agreements', { reference: 'R', description: 'D' }))
          .agreement_id
        await pay({ set_up_agreement: agreement })
        if (!/created first/.test(name)) await read(await charge())
        await account.clock.advance('1m')
      }
      if (/xpires|days after/.test(name)) payment_id = await pay({ delayed_capture: true })
      if (/abandons/.test(name)) payment_id = (await create()).payment_id
      if (!/receiver|essage/.test(name)) return
      receiver = await startReceiver({ plain: true, onRequest })
      if (/prints/.test(name)) return
      await register()
      await pay()
      await settle()
    },
    /** The work of the application, by the end of the line that describes it. */
    acts: {
      'create a payment': () => create().catch(() => {}),
      'create a payment, send a user to next_url and read the payment': async () => {
        const made = await create()
        await fetch(made._links.next_url.href, { redirect: 'manual' })
        await read(made.payment_id)
      },
      'read a payment': async () => read(await pay()),
      'read a payment that was open': () => read(payment_id),
      'read a payment that was capturable': () => read(payment_id),
      'capture a payment that was capturable': () => post(`/v1/payments/${payment_id}/capture`),
      'cancel a payment': async () => post(`/v1/payments/${(await create()).payment_id}/cancel`),
      'cancel a payment that is open': async () =>
        post(`/v1/payments/${(await create()).payment_id}/cancel`),
      'refund a payment': refund,
      'refund a payment, and read the refund later': async () => {
        const { id, refund: made } = await refund()
        await account.clock.advance('1h')
        await send('GET', `/v1/payments/${id}/refunds/${made.refund_id}`)
      },
      'take a payment with an agreement, and read it later': async () => {
        const id = await charge()
        await account.clock.advance('5s')
        await read(id)
      },
      'take two payments with an agreement, the second one later': async () => {
        await charge()
        await account.clock.advance('5s')
        await charge()
      },
      'register the webhook of your receiver, and let a user pay': async () => {
        await register()
        await pay()
        await settle()
      },
      'stop your receiver, let a user pay, start it, and let a user pay again': async () => {
        answers.push(503, 503, 503, 503)
        await pay()
        await settle().catch(() => {})
        answers.length = 0
        await pay()
        await settle().catch(() => {})
      },
      'let a user pay, and move the clock by a minute': async () => {
        await pay()
        await settle().catch(() => {}) // one message comes later
        await account.clock.advance('1m')
        await settle()
      },
      '': async () => {},
    } as Record<string, () => Promise<unknown>>,
    post,
    create,
    pay,
    refund,
    charge,
    plan: (plan: object) => account.send('POST', '/control/plans', plan),
    agreement: () => agreement,
    answer: (status: number) => answers.push(status),
    /** From now on the receiver answers 409 to a message that it has. */
    refuseAgain() {
      seen = new Set()
    },
    ignore() {
      isDeaf = true
    },
    async [Symbol.asyncDispose]() {
      await receiver?.close()
    },
  }
}
