import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { onOneDatabase } from '../../support/service.ts'

const addressesIn = (page: string): string[] =>
  [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, address = '']) => address)

onOneDatabase('Assets', service => {
  let addresses: string[] = []
  let css = ''
  before(async () => {
    addresses = addressesIn((await service().anonymous.get('/secure/x')).text)
    css = addresses[0] ?? ''
  })

  test('The assets are three files with a hash in their names, which browsers may cache for a year', async () => {
    const { anonymous } = service()
    assert.equal(addresses.length, 3)
    for (const address of addresses) {
      assert.match(address, /^\/assets\/[a-z]+-[0-9a-f]{16}\.(css|js|svg)$/)
      const { status, headers } = await anonymous.get(address)
      assert.equal(status, 200)
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('set-cookie'), null)
    }
  })

  test('Assets are compressed and have a Vary header', async () => {
    const { anonymous } = service()
    for (const address of addresses) {
      const sizes: number[] = []
      for (const encoding of ['identity', 'gzip']) {
        const { headers } = await anonymous.get(address, { 'Accept-Encoding': encoding })
        assert.equal(headers.get('content-encoding') ?? 'identity', encoding)
        assert.equal(headers.get('vary'), 'Accept-Encoding')
        sizes.push(Number(headers.get('content-length')))
      }
      const [plain = 0, gzip = 0] = sizes
      assert.ok(0 < gzip && gzip < plain, `${address}: ${sizes}`)
    }
  })

  test('An asset that the browser has is 304 without a body', async () => {
    const get = (headers: Record<string, string>) =>
      service().anonymous.get(css, { 'Accept-Encoding': 'br', ...headers })
    const etag = (await get({})).headers.get('etag') ?? ''
    for (const tag of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const { status, text, headers } = await get({ 'If-None-Match': tag })
      assert.deepEqual([status, text, headers.get('etag')], [304, '', etag], tag)
    }
    const changed = await get({ 'Accept-Encoding': 'gzip', 'If-None-Match': etag })
    assert.equal(changed.status, 200)
  })

  test('Another name below /assets is 404', async () => {
    for (const address of [
      '/assets',
      '/assets/',
      '/assets/manifest.json',
      `${css}.br`,
      css.replace(/[0-9a-f]{16}/, '0'.repeat(16)),
      '/assets/%2e%2e/app.ts',
      '/assets/toString',
    ]) {
      const { status, body, headers } = await service().anonymous.get(address)
      assert.deepEqual([status, body?.code], [404, 'P0911'], address)
      assert.notEqual(headers.get('cache-control'), 'public, max-age=31536000, immutable')
    }
  })
})
