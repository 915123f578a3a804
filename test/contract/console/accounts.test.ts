import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteEndedRooms } from '../../../src/app/ended-rooms-store.ts'
import { testAccountName } from '../../../src/core/account.ts'
import { DAY } from '../../../src/core/time.ts'
import { pages } from '../../../src/tools/console/pages.ts'
import { classed, tagged } from '../../hosted/document.ts'
import { createAgreement } from '../../support/agreements.ts'
import { createClient, webPayment } from '../../support/client.ts'
import {
  byId,
  consoleOf,
  enter,
  headingOf,
  linkIn,
  rowsOf,
  type Shown,
  signIn,
  stepsOf,
} from '../../support/console.ts'
import { addressesOf } from '../../support/console-pages.ts'
import { fillAccount } from '../../support/console-states.ts'
import { ask } from '../../support/control.ts'
import { cancelledPayment } from '../../support/journeys.ts'
import type { Behaviour } from '../../support/receiver.ts'
import { onEveryDatabase } from '../../support/service.ts'
import { answering, history, receiving, subscribe } from '../../support/subscriber.ts'
import { holdAttempts } from '../../support/time.ts'

const LIST = 'Test accounts, newest first'

onEveryDatabase('Accounts in the console', { ...receiving, control: true }, service => {
  const start = async () => {
    const entered = await enter(service())
    const made = async (fields = {}) => {
      const { body } = await ask(service(), entered.api, 'accounts', fields)
      return { name: body.account as string, api: createClient(service().baseUrls, body.key) }
    }
    const end = ({ name }: { name: string }) =>
      ask(service(), entered.api, `accounts/${name}`, undefined, 'DELETE')
    return { ...entered, made, end }
  }
  /** Deletes ended accounts. Nobody can read them five minutes after their end. */
  const deleteEnded = () => {
    service().clock.advance(5 * 60_000 + 1)
    return deleteEndedRooms(service().database, service().clock.now())
  }

  test('a parent makes a test account, whose key works and is shown once, comes back with one click, and ends it', async () => {
    const { api, browser, name, made } = await start()
    const inner = `${name}-team`
    const used = await browser.post('accounts/make-account', { name: (await made()).name })
    assert.equal(used.status, 400)
    assert.match(byId(used, 'name-error').text, /was used within the last 8 days/)
    await ask(service(), api, 'clock', { advance: 7 * DAY })
    const page = await browser.post('accounts/make-account', { name: inner })
    assert.match(page.text, /It ends \d{4}-\d\d-\d\d \d\d:\d\d\./, 'on the machine’s clock')
    const key = page.elements.find(tagged('pre'))?.text.trim() ?? ''
    assert.equal((await createClient(service().baseUrls, key).get('/v1/payments')).status, 200)
    assert.ok(!(await browser.get('accounts')).html.includes(key))
    const inside = await browser.get(`a/${inner}/payments`)
    assert.match(inside.text, new RegExp(`^Test account ${inner} · back to ${name}`))
    assert.ok(inside.html.includes(`<title>Payments - ${inner} - Farthing console</title>`))
    assert.equal(linkIn(inside, /^back to/), 'console')
    const own = await signIn(service(), createClient(service().baseUrls, key))
    assert.equal((await own.post('accounts/make-account', { name: `${inner}-2` })).status, 404)
    byId(await browser.get('accounts'), `end-${inner}`)
    const end = async (name: string) => (await browser.post('accounts/end-account', { name })).done
    assert.equal(await end(inner), 'account-ended')
    assert.match((await own.get('payments')).location ?? '', /^sign-in/)
    assert.equal(await end('none'), 'not-ended')
  })

  test('a test account has the behaviour that the form chooses, or its parent’s, and every page says it', async () => {
    const { browser, name } = await start()
    const make = (inner: string, behaviour: string) =>
      browser.post('accounts/make-account', { name: `${name}-${inner}`, behaviour })
    const refused = await browser.post('accounts/make-account', { name: '', behaviour: 'govuk' })
    assert.match(byId(refused, 'name-error').text, /The name must/)
    const error = /The behaviour must be one of specification, govuk-pay/
    assert.match(byId(refused, 'behaviour-error').text, error)
    for (const [inner, chosen, behaviour, status] of [
      ['a', '', 'specification', 201],
      ['b', 'govuk-pay', 'govuk-pay', 422],
    ] as const) {
      const page = await make(inner, chosen)
      assert.match(page.text, new RegExp(`Its behaviour is ${behaviour}: `))
      const key = page.elements.find(tagged('pre'))?.text.trim() ?? ''
      const api = createClient(service().baseUrls, key, behaviour)
      assert.equal((await api.post('/v1/payments', { ...webPayment, amount: 0 })).status, status)
      for (const path of ['', '/payments', '/accounts']) {
        const { elements } = await browser.get(`a/${name}-${inner}${path}`)
        const header = elements.find(classed('farthing-account'))
        assert.match(header?.text ?? '', new RegExp(`Behaviour: ${behaviour}`), path)
      }
      const home = await browser.get(`a/${name}-${inner}`)
      assert.match(home.text, new RegExp(`Behaviour: ${behaviour}\\. This account answers`))
    }
    const rows = rowsOf(await browser.get('accounts'), LIST)
    assert.ok(rows.find(cells => cells.join().includes(`${name}-b`))?.includes('govuk-pay'))
  })

  test('a parent lists its test accounts, and looks inside without their keys', async () => {
    const { browser, made } = await start()
    const inner = await made({ at: '2026-03-29T00:59:58Z' })
    const { payment_id } = await inner.api.createPayment({ reference: 'R-inner' })
    await inner.api.post('/v1/payments', {})
    const list = await browser.get('accounts')
    const [row = []] = rowsOf(list, LIST)
    assert.match(row.join(''), /stands still at 2026-03-29 .*110Look inside/)
    const home = linkIn(list, new RegExp(`Look inside ${inner.name}`))
    const inside = await browser.get(home)
    assert.equal(headingOf(inside), 'Home')
    assert.ok(inside.html.includes(`<bdi>${inner.name}</bdi>`))
    const payments = await browser.get(`${home}/payments`)
    assert.match(payments.text, /R-inner/)
    const path = `${home}/payments/${payment_id}`
    const acted = await browser.post(`${path}/cancel`, { account: inner.name })
    assert.equal(acted.location, path)
    assert.match((await browser.get(path)).text, /cancelled through the API/)
    assert.equal((await browser.look(`${home}/payments`, payments)).status, 200)
    assert.equal((await browser.get(`payments/${payment_id}`)).status, 404, 'not the parent’s')
  })

  test('a failed message counts in the list of test accounts and on Home until its receiver accepts it, sent again', async t => {
    const { browser, made } = await start()
    const inner = await made()
    let status = 500
    const behaviour: Behaviour = { onRequest: answer => answering(status)(answer) }
    const { webhook } = await subscribe(t, inner.api, { behaviour })
    for (let i = 0; i < 2; i++) await cancelledPayment(inner.api)
    const [message] = await history(inner.api, webhook)
    const counts = async () => {
      const [row] = rowsOf(await browser.get('accounts'), LIST)
      const { text } = await browser.get(`a/${inner.name}`)
      return [row?.[6], /(\d+) messages? to/.exec(text)?.[1]]
    }
    assert.deepEqual(await counts(), ['2', '2'])
    status = 200
    // The second time changes nothing.
    for (let i = 0; i < 2; i++) {
      await browser.post(`a/${inner.name}/messages/${message?.webhook_message_id}/send`)
      assert.deepEqual(await counts(), ['1', '1'])
    }
  })

  test('test accounts are shown a hundred at a time, the newest first', async () => {
    const { browser, name: parent, made } = await start()
    const first = await made()
    const others = Array.from({ length: 100 }, (_, i) => `${parent}.${String(i).padStart(3, '0')}`)
    await service().database.write(
      others.map(name => ({
        sql: `insert into accounts (name, room, clock_offset, parent, epoch, expires)
                select $1, $1, 0, parent, 0, expires + 1 from accounts where name = $2`,
        values: [testAccountName(parent, name), testAccountName(parent, first.name)],
      })),
    )
    const names = ({ elements }: Shown) =>
      elements.filter(classed('farthing-text')).map(({ text }) => text)
    const newest = await browser.get('accounts')
    assert.deepEqual(names(newest), others.toReversed())
    const older = await browser.get(linkIn(newest, /Older/))
    assert.deepEqual(names(older), [first.name])
    assert.deepEqual(names(await browser.get(linkIn(older, /Newer/))), others.toReversed())
    assert.deepEqual(names(await browser.get('accounts?before=x')), others.toReversed())
  })

  test('a test account has its name in the address with its own key too', async () => {
    const { made } = await start()
    const inner = await made()
    const { payment_id } = await inner.api.createPayment()
    const own = await signIn(service(), inner.api)
    const place = `a/${encodeURIComponent(inner.name)}`
    const path = `payments/${payment_id}?back=q%3Dx`
    const moved = await own.get(path)
    assert.deepEqual([moved.status, moved.location], [303, `${place}/${path}`])
    assert.match(headingOf(await own.get(`${place}/${path}`)), /^Payment of/)
    const page = await own.get(`${place}/accounts`)
    assert.match(page.text, /Test account of/)
    assert.equal(linkIn(page, /^back to/), '', 'its key leads to no other account')
    assert.equal((await own.post('sign-out')).location, 'sign-in')
    const stranger = await consoleOf(service()).get(`${place}/payments`)
    assert.equal(stranger.location, `sign-in?${new URLSearchParams({ to: `${place}/payments` })}`)
  })

  test('an account that has ended can be read by its parent until it is deleted, and nothing can be done in it', async () => {
    const { browser, made, end } = await start()
    const inner = await made()
    const { payment_id } = await inner.api.createPayment({ reference: 'R-inner' })
    const own = await signIn(service(), inner.api)
    await end(inner)
    const home = linkIn(await browser.get('accounts'), new RegExp(`Look inside ${inner.name}`))
    const ended = /This test account has ended\. Nothing can be done in it any more/
    for (const page of ['', '/payments', '/webhooks', '/accounts'])
      assert.match((await browser.get(home + page)).text, ended)
    const path = `payments/${payment_id}`
    const payment = await browser.get(`${home}/${path}`)
    assert.match(payment.text, /R-inner/)
    for (const action of [`${path}/cancel`, 'payments/new/create', 'webhooks/new/register']) {
      const refused = await browser.post(`${home}/${action}`, { account: inner.name })
      assert.deepEqual([refused.status, headingOf(refused)], [409, 'This test account has ended'])
      assert.match(refused.text, /Nothing was done/)
    }
    const after = await browser.get(`${home}/${path}`)
    assert.deepEqual(stepsOf(after), stepsOf(payment))
    assert.equal((await browser.look(`${home}/${path}`, after)).status, 304)
    assert.match((await own.get(`${home}/payments`)).location ?? '', /^sign-in/, 'its own key')
    await deleteEnded()
    assert.equal((await browser.get(`${home}/payments`)).status, 404)
    assert.match((await browser.get('accounts')).text, /earlier ?All of it is deleted/)
  })

  test('the pages of an account that has ended offer nothing that would be refused', async t => {
    const { browser, made, end } = await start()
    const inner = await made()
    holdAttempts(t)
    const shelf = await fillAccount(service(), inner.api)
    t.after(shelf.close)
    const agreement = await createAgreement(inner.api)
    const open = { ...shelf, declined: await inner.api.createPayment() }
    const addressOf = await addressesOf(service(), inner.api, { shelf: open, agreement })
    const paths = ['signature', ...pages.map(({ path }) => addressOf(path))]
    const actionsOf = ({ elements }: Shown): string[] =>
      elements.flatMap(({ tag, attributes: { method, action, href, enctype } }) => {
        if (tag === 'form' && method === 'post' && !enctype) return [action ?? '']
        return tag === 'a' && /\/new$|\/secure\//.test(href ?? '') ? [href ?? ''] : []
      })
    const all = async () => {
      const found: string[] = []
      for (const path of paths)
        found.push(...actionsOf(await browser.get(`a/${inner.name}/${path}`.replace(/\/$/, ''))))
      return found.filter(each => !each.endsWith('sign-out'))
    }
    assert.ok((await all()).length > 15, 'before its end')
    await end(inner)
    assert.deepEqual(await all(), [])
    for (const form of ['payments/new', 'webhooks/new']) {
      const page = await browser.get(`a/${inner.name}/${form}`)
      assert.equal(headingOf(page), 'This test account has ended')
    }
  })

  test('an account that has expired is listed as ended, and can be read by its parent', async () => {
    const { api, made } = await start()
    const inner = await made()
    service().clock.advance(7 * DAY)
    const browser = await signIn(service(), api)
    const { text } = await browser.get(`a/${inner.name}/payments`)
    assert.match(text, /This test account has ended/)
    assert.match(
      (await browser.get('accounts')).text,
      new RegExp(`Ended .*${inner.name}20\\d\\d-.*Look inside`),
    )
  })

  test('an unknown test account, one that is deleted and one of another account answer alike, and nothing is done', async () => {
    const { browser, name, made, end } = await start()
    const other = await start()
    const foreign = await other.made()
    const { payment_id } = await foreign.api.createPayment()
    const ended = await made()
    await end(ended)
    await deleteEnded()
    const answers = new Set<string>()
    for (const each of [foreign.name, ended.name, 'nobody', name, other.name, '%23']) {
      const page = await browser.get(`a/${each}/payments`)
      answers.add(`${page.status} ${page.text}`)
      const form = await browser.post(`a/${each}/payments/${payment_id}/cancel`)
      assert.deepEqual([form.status, headingOf(form)], [404, `You are now in ${name}`])
    }
    assert.equal(answers.size, 1)
    const { body } = await foreign.api.get(`/v1/payments/${payment_id}`)
    assert.equal(body.state.status, 'created')
  })
})
