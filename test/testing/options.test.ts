/** Options that the library refuses before it asks the service. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connectFarthing, startFarthing } from '../../src/testing/library.ts'
import { freePort, isListening } from '../support/ports.ts'
import { connected } from './connected.ts'

const unchecked = (value: unknown) => value as undefined

describe('The library', () => {
  const farthing = connected()

  test('options that do not exist and values of the wrong kind are refused with what there is', async () => {
    await using account = await farthing().account()
    const receiver = await account.receive()
    const refused: [() => Promise<unknown>, RegExp][] = [
      [() => startFarthing(unchecked({ prot: 1 })), /^startFarthing: there is no prot: use port/],
      [() => startFarthing(unchecked('x')), /^startFarthing: 'x' is not an object with any of p/],
      [
        () => startFarthing(unchecked({ database: 5 })),
        /^startFarthing: database: 5 is empty or not/,
      ],
      [() => startFarthing(unchecked({ log: 'all' })), /log: 'all' is not one of silent, error/],
      [
        () => startFarthing(unchecked({ behaviour: 'govuk' })),
        /behaviour: 'govuk' is not one of spec/,
      ],
      [() => connectFarthing(unchecked({ uri: '' })), /there is no uri: use url, key$/],
      [() => farthing().account(unchecked('checkout')), /^account: 'checkout' is not an object/],
      [
        () => farthing().account(unchecked({ nme: 'x' })),
        /there is no nme: use name, behaviour, at, frozen, keepO/,
      ],
      [
        () => account.reset(unchecked({ form: 1 })),
        /^reset: there is no form: use behaviour, at, frozen$/,
      ],
      [
        async () => receiver.answer(unchecked((_: unknown, count: number) => count)),
        /^answer: a function gets the message alone: message\.attempt counts/,
      ],
      [() => account.receive(unchecked({ event: [] })), /^receive: there is no event: use events/],
      [() => receiver.next(unchecked({ evnt: 'x' })), /^next: there is no evnt: use event, pay/],
      [() => receiver.next({}, unchecked({ signal: 5 })), /^next: signal: 5 is not an AbortS/],
      [() => receiver.next(unchecked({ payment_id: undefined })), /payment_id: undefined is empty/],
      [() => account.settled(unchecked({ timeuot: 5 })), /^settled: there is no timeuot: use t/],
      [() => account.settled(unchecked({ timeout: '5' })), /timeout: '5' is not a duration/],
      [() => account.waitForPayment('R', unchecked({ timeuot: 5 })), /no timeuot: use timeout, s/],
      [() => account.requests(unchecked({ method: 'GET' })), /no method: use operation, payment/],
      [
        () => account.requests(unchecked({ reference: undefined })),
        /reference: undefined is empty/,
      ],
    ]
    await assert.rejects(
      startFarthing({ callbackHosts: '*.internal' }),
      /^Error: startFarthing: callbackHosts: "\*\.internal" is not a host/,
    )
    for (const [call, message] of refused)
      await assert.rejects(call(), { name: 'TypeError', message })
    await account.settled(unchecked({ timeout: undefined, signal: undefined }))
  })

  test('a refused address over http names the option first, with the host of the request', async () => {
    await using farthing = await startFarthing()
    const [return_url, callback_url] = ['http://shop.test:8080/', 'http://hooks.test/']
    const payment = { amount: 1, reference: 'R', description: 'D', return_url }
    const sent = [
      await farthing.send('POST', '/v1/payments', payment),
      await farthing.send('POST', '/v1/webhooks', { callback_url }),
    ]
    assert.deepEqual(
      sent.map(({ body }) => body.description.replace(/.*, unless/, 'unless')),
      [
        "unless the option returnHosts of startFarthing lists its host, alone or with this port: startFarthing({ returnHosts: 'shop.test:8080' }), or for the service FARTHING_RETURN_HOSTS=shop.test:8080",
        "unless the option callbackHosts of startFarthing lists its host, alone or with this port: startFarthing({ callbackHosts: 'hooks.test' }), or for the service FARTHING_CALLBACK_HOSTS=hooks.test",
      ],
    )
  })

  test('a wait for undefined is refused, and a wait for a payment is one for its payment_id', async () => {
    await using account = await farthing().account()
    const payment = await account.payment({ reference: 'R' })
    await account.payment({ reference: 'R' })
    assert.deepEqual(await account.waitForPayment(payment), payment)
    const texts = [undefined, null, '', 5, { reference: undefined, status: 'created' }, ['R']]
    const things = [{ ...payment, status: 'created' }, { state: {} }, { referenc: 'R' }]
    for (const which of [...texts, ...things])
      await assert.rejects(account.waitForPayment(which as string), TypeError)
    await assert.rejects(
      account.waitForPayment(undefined as unknown as string),
      /^TypeError: waitForPayment: undefined is not a payment, a payment_id or a reference$/,
    )
    const missing = /^TypeError: complete: (undefined|'')/
    for (const which of [undefined, {}, ''])
      await assert.rejects(account.complete(which as string), missing)
  })

  test('a port that is in use is named, with what to do', async () => {
    const port = Number(new URL(farthing().url).port)
    const inUse = `startFarthing: port ${port} is in use. Leave port out for a free one, or stop what listens there`
    await assert.rejects(startFarthing({ port }), { message: inUse })
  })

  test('a time needs a zone, and a day and hour that exist', async () => {
    await using account = await farthing().account({ at: '2026-03-29T02:59:58+02:00' })
    assert.equal((await account.clock.now()).toISOString(), '2026-03-29T00:59:58.000Z')
    const wrong = ['2026-03-29T00:59:58', '2026-03-29', '5', '', '2026-02-30T00:00:00Z']
    for (const at of [...wrong, '2026-03-29T24:00:00Z', 5 as unknown as string, new Date('x')]) {
      await assert.rejects(farthing().account({ at }), TypeError)
      await assert.rejects(account.reset({ at }), /is not a time: give a Date, or ISO 8601/)
    }
  })
})

test('a start that fails leaves no service behind', async () => {
  const port = await freePort()
  const threads = () => process.getActiveResourcesInfo().filter(kind => kind === 'MessagePort')
  const before = threads()
  const wrong = ['soon', '1999-01-01T00:00:00Z', 5 as unknown as string]
  for (const at of wrong) await assert.rejects(startFarthing({ port, at }), /time/)
  assert.equal(await isListening(port), false)
  assert.ok(threads().length <= before.length, 'those of earlier tests may end meanwhile')
})
