import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { assets, readAssets } from '../../src/web/assets.ts'

const names = [assets.css, assets.js, assets.icon]

function text(name: string): string {
  const found = assets.file(name, undefined)
  assert.ok(found)
  return found.body.toString()
}

describe('The assets of the hosted pages', () => {
  it('have names that hold a hash of their content', () => {
    for (const name of names) {
      const hash = createHash('sha256').update(text(name)).digest('hex').slice(0, 16)
      assert.match(name, new RegExp(`^(app|icon)-${hash}\\.(css|js|svg)$`))
    }
  })

  it('may be kept for ever by any cache', () => {
    for (const name of names) {
      const headers = assets.file(name, 'br')?.headers
      assert.equal(headers?.['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(headers?.vary, 'Accept-Encoding')
    }
  })

  it('have the media types that nosniff calls for', () => {
    const types = names.map(name => assets.file(name, undefined)?.headers['content-type'])
    assert.deepEqual(types, [
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
      'image/svg+xml',
    ])
  })

  const cases: [header: string | undefined, encoding: string | undefined][] = [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br ; q=0.001', 'br'],
    ['*', 'br'],
    ['*;q=0, gzip', 'gzip'],
    ['gzip;q=0, *;q=0', undefined],
    ['identity', undefined],
    ['', undefined],
    [undefined, undefined],
    ['br;q=nonsense', undefined],
  ]
  for (const [header, encoding] of cases)
    it(`go out as ${encoding ?? 'they are'} for Accept-Encoding ${header ?? '(none)'}`, () => {
      const found = assets.file(assets.css, header)
      assert.equal(found?.headers['content-encoding'], encoding)
    })

  it('are the same content in every encoding, each with its own strong ETag', () => {
    for (const name of names) {
      const forms = ['br', 'gzip', 'identity'].map(encoding => assets.file(name, encoding)!)
      const [br, gzip, plain] = forms
      assert.deepEqual(brotliDecompressSync(br!.body), plain!.body)
      assert.deepEqual(gunzipSync(gzip!.body), plain!.body)
      const etags = forms.map(form => form.headers.etag!)
      assert.equal(new Set(etags).size, 3)
      for (const etag of etags) assert.match(etag, /^"[!#-~]+"$/)
    }
  })

  it('are nothing but what the manifest names', () => {
    for (const name of [
      '',
      'manifest.json',
      `${assets.css}.br`,
      '../assets.ts',
      'toString',
      '__proto__',
    ])
      assert.equal(assets.file(name, 'br'), undefined, name)
  })

  it('hold no typeface, crown or crest and ask for no other file', () => {
    assert.doesNotMatch(text(assets.css), /@font-face|@import|url\(|transport|crown|crest/i)
    assert.doesNotMatch(text(assets.js), /\bimport\b|innerHTML|\beval\b|fetch\(/)
  })

  it('are small: less than 100 KB of styles and 10 KB of script before compression', () => {
    assert.ok(text(assets.css).length < 100_000)
    assert.ok(text(assets.js).length < 10_000)
  })

  it('say what to do when they were not built', () => {
    assert.throws(
      () => readAssets(new URL('./no-such-folder/', import.meta.url)),
      /not built: run `npm run prepare`/,
    )
  })
})
