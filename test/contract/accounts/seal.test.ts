import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSealedBy, readSeal, seal } from '../../../src/platform/accounts/seal.ts'
import { findLivingKey, listKeys, revokeKey } from '../../../src/platform/accounts/store.ts'
import { ask } from '../../support/control.ts'
import { onSharedDatabases, START } from '../../support/service.ts'

onSharedDatabases('A seal for the console', service => {
  test('a seal is made with the key of the request, for a minute and one purpose', async () => {
    const { api, name } = await service().newNamedAccount()
    const { status, body } = await ask(service(), api, 'enter', { to: 'payments/06h3k' })
    assert.equal(status, 200)
    const expires = START + 60_000
    assert.equal(body.expires, new Date(expires).toISOString())
    const url = new URL(body.url)
    assert.equal(url.searchParams.get('to'), 'payments/06h3k')
    const home = new URL((await ask(service(), api, 'enter', {})).body.url)
    assert.equal(home.searchParams.get('to'), null)
    assert.equal(url.pathname, '/console/enter')
    const code = url.searchParams.get('code') ?? ''
    const sealed = readSeal(code)
    assert.ok(sealed)
    assert.deepEqual({ ...sealed, key_id: '' }, { account: name, key_id: '', expires })
    const { database } = service()
    const key = await findLivingKey(database, sealed.key_id, [])
    assert.ok(key && isSealedBy(code, 'enter', key.hash))
    assert.ok(!isSealedBy(code, 'session', key.hash), 'a link is no session')
    assert.ok(!isSealedBy(code.replace(name, 'another'), 'enter', key.hash))
    assert.ok(!isSealedBy(code, 'enter', 'f'.repeat(64)), 'another key did not make it')
    await revokeKey(database, sealed.key_id, START)
    assert.equal(await findLivingKey(database, sealed.key_id, []), undefined)
    assert.ok((await listKeys(database)).length > 0)
  })

  test('a seal is refused for an address that is not a page, and account names with dots are read back', async () => {
    const api = await service().newAccount()
    for (const to of ['//evil.example', 'payments/../x', 'https://evil.example', '', 7]) {
      const { status, body } = await ask(service(), api, 'enter', { to })
      assert.deepEqual([status, body.field], [422, 'to'])
    }
    const given = { account: 'a.b %2E c', key_id: '06h', expires: 12 }
    assert.deepEqual(readSeal(seal(given, 'session', 'ab'.repeat(32))), given)
    for (const text of ['', 'a.b.1', `a.b.1.${'g'.repeat(64)}`, `%.b.1.${'a'.repeat(64)}`])
      assert.equal(readSeal(text), undefined)
  })
})
