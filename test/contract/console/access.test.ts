import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSeal } from '../../../src/platform/accounts/seal.ts'
import { listKeys, revokeKey } from '../../../src/platform/accounts/store.ts'
import { pages } from '../../../src/tools/console/pages.ts'
import { type Body, sendUnchecked } from '../../support/client.ts'
import {
  byId,
  codeOf,
  consoleOf,
  cookieIn,
  headingOf,
  linkIn,
  type Shown,
  signIn,
} from '../../support/console.ts'
import { ask } from '../../support/control.ts'
import { onEveryDatabase, onOneDatabase, startService } from '../../support/service.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

const toIn = ({ elements }: Shown) =>
  elements.find(({ attributes }) => attributes.name === 'to')?.attributes.value

onEveryDatabase('Entering the console', service => {
  const stranger = () => consoleOf(service())

  test('a key with spaces around it signs in, and the session ends by signing out', async () => {
    const { api, name } = await service().namedAccount()
    const entered = await stranger().post('sign-in', { key: ` ${api.key}\r\n` })
    const attributes = entered.headers.get('set-cookie')?.split('; ').slice(1)
    const path = service().kind === 'sqlite' ? ['Path=/console'] : []
    assert.deepEqual(attributes, [...path, 'Max-Age=43200', 'HttpOnly', 'SameSite=Strict'])
    const browser = consoleOf(service(), cookieIn(entered))
    const page = await browser.get('payments')
    assert.ok(page.html.includes(`<bdi>${name}</bdi>`))
    const out = await browser.post('sign-out')
    assert.deepEqual([out.status, out.location, out.done], [303, 'sign-in', 'signed-out'])
    assert.match(out.headers.getSetCookie()[0] ?? '', /^farthing_console=; .*Max-Age=0/)
  })

  test('a link of farthing open enters with one button, and no other site learns its code', async () => {
    const api = await service().newAccount()
    const code = await codeOf(service(), api)
    const query = new URLSearchParams({ code, to: 'payments/06h3k' })
    const page = await stranger().get(`enter?${query}`)
    assert.equal(page.headers.get('referrer-policy'), 'same-origin')
    assert.equal(page.headers.get('set-cookie'), null, 'a preview of the link enters nothing')
    byId(page, 'enter')
    const fields = { code, to: 'payments/06h3k' }
    const entered = await stranger().post('enter', fields)
    assert.deepEqual([entered.status, entered.location], [303, 'payments/06h3k'])
    const browser = consoleOf(service(), cookieIn(entered))
    assert.equal((await browser.get('payments')).status, 200)
    const again = await stranger().post('enter', { code })
    assert.deepEqual([again.status, again.location], [303, ''], 'again within its minute, to home')
    service().clock.advance(60_000)
    assert.equal((await stranger().post('enter', fields)).status, 401)
  })

  test('a seal of the other purpose, altered, swapped or expired is no session', async () => {
    const api = await service().newAccount()
    const other = await signIn(service(), await service().newAccount())
    const browser = await signIn(service(), api)
    const [value = '', second = ''] = [browser, other].map(({ cookie }) => cookie?.split('=')[1])
    const code = await codeOf(service(), api)
    const { expires = 0 } = readSeal(value) ?? {}
    for (const wrong of [
      code,
      value.replace(/[^.]+$/, second.split('.').at(-1) ?? ''),
      value.replace(/[^.]+$/, '0'.repeat(64)),
      value.replace(/^[^.]+/, second.split('.')[0] ?? ''),
      value.replace(`${expires}`, `${expires + 1}`),
      `${value}0`,
      'a.b.1.c',
    ]) {
      const page = await consoleOf(service(), `farthing_console=${wrong}`).get('payments')
      assert.equal(page.status, 303, wrong)
    }
    assert.equal((await stranger().post('enter', { code: value })).status, 401)
    const both = consoleOf(service(), `farthing_console=x; other=1; ${browser.cookie}`)
    assert.equal((await both.get('payments')).status, 200)
    service().clock.advance(12 * 60 * 60 * 1000)
    assert.equal((await browser.get('payments')).status, 303)
  })

  test('a revoked key ends its sessions at once, on every instance', async () => {
    const { api, name } = await service().namedAccount()
    const browser = await signIn(service(), api)
    const code = await codeOf(service(), api)
    const { database, clock } = service()
    const keys = (await listKeys(database)).filter(({ account }) => account === name)
    for (const { key_id } of keys) await revokeKey(database, key_id, clock.now())
    for (const _ of service().baseUrls) assert.equal((await browser.get('payments')).status, 303)
    assert.equal((await stranger().post('enter', { code })).status, 401)
  })
})

// These pages read no more of the account than its session.
onOneDatabase('The pages of the console, their addresses and headers', service => {
  const stranger = () => consoleOf(service())

  test('without a session every page leads to the page to sign in, and back from there', async () => {
    const api = await service().newAccount()
    for (const [path, back] of [
      ['', undefined],
      ['payments?status=failed&q=', 'payments?status=failed&q='],
      ['no-such-page', 'no-such-page'],
      ['payments/a/b/c', undefined],
    ] as const) {
      const { status, location } = await stranger().get(path)
      assert.equal(status, 303, path)
      assert.match(location ?? '', /^sign-in/)
      const { searchParams } = new URL(location ?? '', 'http://x')
      if (back !== undefined) assert.equal(searchParams.get('to'), back)
      const page = await stranger().get(location ?? '')
      assert.equal(page.status, 200)
      assert.equal(headingOf(page), 'Sign in to the console')
      const entered = await stranger().post('sign-in', { key: api.key ?? '', to: toIn(page) ?? '' })
      assert.deepEqual([entered.status, entered.location], [303, back ?? ''])
    }
  })

  test('the links of a page lead to the same pages if its address ends with a slash', async () => {
    const api = await service().newAccount()
    await api.get('/v1/payments/unknown')
    await api.post('/v1/webhooks', { callback_url: 'https://localhost:1/' })
    const browser = await signIn(service(), api)
    for (const { path } of pages.filter(({ path }) => !path.includes('{'))) {
      const targets = async (address: string) => {
        const { elements } = await browser.get(address)
        const { pathname: base } = new URL(`/console/${address}`, 'http://x')
        return elements.flatMap(({ attributes: { href, action } }) => {
          const link = href ?? action
          return link?.startsWith('#') === false ? [new URL(link, `http://x${base}`).href] : []
        })
      }
      if (path !== '') assert.deepEqual(await targets(`${path}/`), await targets(path), path)
    }
  })

  test('a page to go back to is one of the console, whatever the form says', async () => {
    const { key = '' } = await service().newAccount()
    const outside = 'https://evil.example/ //evil.example /secure ../docs javascript:alert(1)'
    const bad = ['payments/../../x', 'payments\r\nX: y', 'payments?a?\u0100', 'payments?a\r\nX: y']
    for (const to of [...outside.split(' '), ...bad, '']) {
      const { location } = await stranger().post('sign-in', { key, to })
      assert.equal(location, '', to)
      const page = await stranger().get(`sign-in?${new URLSearchParams({ to })}`)
      assert.deepEqual([page.status, toIn(page)], [200, ''], to)
    }
    const to = 'payments?q=a?b'
    assert.equal((await stranger().post('sign-in', { key, to })).location, to)
  })

  test('an address has at most 2 KB of a request', async () => {
    const looked = await stranger().get(`payments?q=${'x'.repeat(4_000)}`)
    assert.deepEqual([looked.status, looked.location], [303, 'sign-in'])
    const browser = await signIn(service(), await service().newAccount())
    const resent = await browser.post('deliveries/resend', { webhook: 'x'.repeat(15_000) })
    assert.deepEqual([resent.status, resent.location], [303, 'deliveries'])
  })

  test('a wrong key is one 401, whatever is wrong with it', async () => {
    const pages = new Set<string>()
    for (const key of ['', ' ', 'api_test_nobody', 'é'.repeat(300), "' or 1=1 --"]) {
      const page = await stranger().post('sign-in', { key })
      assert.deepEqual([page.status, page.headers.get('set-cookie')], [401, null])
      const error = 'Error: This key is not known here. Ask whoever runs Farthing for one'
      assert.equal(byId(page, 'key-error').text, error)
      pages.add(page.html)
    }
    assert.equal(pages.size, 1)
    assert.equal((await stranger().post('sign-in')).status, 401)
  })

  test('the cookie is no key of the API, and the key no session of the console', async () => {
    const api = await service().newAccount()
    const browser = await signIn(service(), api)
    const bearer = { Authorization: `Bearer ${api.key}` }
    assert.equal((await stranger().get('payments', bearer)).status, 303)
    for (const path of ['/v1/payments', '/control/requests']) {
      const url = service().baseUrl + path
      const { status } = await fetch(url, { headers: { Cookie: browser.cookie ?? '' } })
      assert.equal(status, 401)
    }
  })

  // forms.test.ts tests the forms of the pages, and hosted/headers.test.ts how another site is recognised.
  test('the forms of another site sign nobody in or out, and at a foreign name there is the page to sign in only', async () => {
    const api = await service().newAccount()
    const browser = await signIn(service(), api)
    const key = api.key ?? ''
    const code = await codeOf(service(), api)
    for (const path of ['sign-in', 'sign-out', 'enter']) {
      const answer = await browser.post(path, { key, code }, { 'Sec-Fetch-Site': 'cross-site' })
      assert.deepEqual([answer.status, answer.headers.get('set-cookie')], [403, null], path)
      assert.match(answer.text, /sent from another site/)
    }
    const [own = ''] = service().baseUrls
    const accepted = { Origin: service().config.baseUrl ?? own, 'Sec-Fetch-Site': 'same-origin' }
    assert.equal((await stranger().post('sign-in', { key }, accepted)).status, 303)
    // A browser sends no cookie to a name that was made to mean 127.0.0.1.
    const rebinding = { headers: { Host: 'evil.example' } }
    const { status, headers } = await sendUnchecked(`${own}/console/payments`, rebinding)
    assert.deepEqual([status, headers.get('location')], [303, 'sign-in?to=payments'])
  })

  test('every page has the headers of the console, and so has every error', async () => {
    const browser = await signIn(service(), await service().newAccount())
    const long = { key: 'x'.repeat(16 * 1024) }
    const answers = [
      [await stranger().get('sign-in'), 200],
      [await stranger().get('payments'), 303],
      [await browser.get('payments'), 200],
      [await browser.get('no-such-page'), 404],
      [await browser.post('payments'), 405],
      [await browser.post('sign-in', long), 413],
      [await browser.post('sign-in', { key: 'x' }, { 'Content-Type': 'text/plain' }), 415],
    ] as const
    for (const [{ status, headers }, expected] of answers) {
      assert.equal(status, expected)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('referrer-policy'), 'same-origin')
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('content-security-policy'), POLICY)
    }
    const page = await browser.get('no-such-page')
    assert.match(page.text, /Page not found/)
    assert.equal(linkIn(page, 'home page'), 'console')
  })
})

for (const control of [false, true])
  test(`FARTHING_CONSOLE=false leaves no page of the console ${control ? 'with' : 'without'} control, which keeps the record and what reads it`, async t => {
    const off = await startService('sqlite', { control, env: { FARTHING_CONSOLE: 'false' } })
    t.after(() => off.stop())
    const api = await off.newAccount()
    for (const path of ['', '/payments', '/sign-in', '/enter'])
      for (const accept of ['text/html', 'application/json']) {
        const get = (at: string) =>
          fetch(off.baseUrl + at, { headers: { accept }, redirect: 'manual' })
        const [console, unknown] = [await get(`/console${path}`), await get('/no-such-path')]
        assert.equal(console.status, 404)
        assert.equal(await console.text(), await unknown.text())
      }
    assert.equal((await consoleOf(off).post('sign-in', { key: api.key ?? '' })).status, 404)
    if (!control) return
    const { payment_id } = await api.createPayment()
    const { body } = await ask(off, api, `requests?payment_id=${payment_id}`)
    const operations = body.results.map(({ operation }: Body) => operation)
    assert.deepEqual(operations, ['createPayment'])
    assert.deepEqual((await ask(off, api, 'messages')).body.results, [])
    for (const path of ['enter', 'listeners'])
      assert.equal((await ask(off, api, path, { to: '', name: 'laptop' })).status, 404, path)
  })
