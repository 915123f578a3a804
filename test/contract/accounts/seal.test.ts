import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSealedBy, readSeal, seal } from '../../../src/platform/accounts/seal.ts'
import { ask } from '../../support/control.ts'
import { onSharedDatabases, START } from '../../support/service.ts'

onSharedDatabases('A seal for the console', service => {
  // console/access.test.ts tests seals that open no page: of another purpose, altered, expired or of a revoked key.
  test('a seal is for the account of the request and for a minute, and its link leads to a page or to home', async () => {
    const { api, name } = await service().namedAccount()
    const { status, body } = await ask(service(), api, 'enter', { to: 'payments/06h3k' })
    const expires = START + 60_000
    assert.deepEqual([status, body.expires], [200, new Date(expires).toISOString()])
    const url = new URL(body.url)
    assert.equal(url.pathname, '/console/enter')
    assert.equal(url.searchParams.get('to'), 'payments/06h3k')
    const sealed = readSeal(url.searchParams.get('code') ?? '')
    assert.deepEqual({ ...sealed, key_id: '' }, { account: name, key_id: '', expires })
    const home = new URL((await ask(service(), api, 'enter', {})).body.url)
    assert.equal(home.searchParams.get('to'), null)
  })

  test('a seal is refused for an address that is not a page or by another key, and account names with dots are read back', async () => {
    const api = await service().newAccount()
    for (const to of ['//evil.example', 'payments/../x', 'https://evil.example', '', 7]) {
      const { status, body } = await ask(service(), api, 'enter', { to })
      assert.deepEqual([status, body.field], [422, 'to'])
    }
    const given = { account: 'a.b %2E c', key_id: '06h', expires: 12 }
    const hash = 'ab'.repeat(32)
    const sealed = seal(given, 'session', hash)
    assert.deepEqual(readSeal(sealed), given)
    assert.ok(isSealedBy(sealed, 'session', hash))
    assert.ok(!isSealedBy(sealed, 'session', 'f'.repeat(64)), 'another key did not make it')
    for (const text of ['', 'a.b.1', `a.b.1.${'g'.repeat(64)}`, `%.b.1.${'a'.repeat(64)}`])
      assert.equal(readSeal(text), undefined)
  })
})
