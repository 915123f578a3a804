import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { acceptsGzip, assets, readAssets } from '../../src/web/assets.ts'

const folder = new URL('../../src/web/assets/built/', import.meta.url)
const { files } = readAssets(folder)

const text = (name: string): string => {
  const file = files.get(name)
  assert.ok(file, name)
  return file.plain.toString()
}

describe('Assets', () => {
  it('The name of each asset contains a hash of its content', () => {
    assert.equal(files.size, 4)
    for (const name of files.keys()) {
      const hash = createHash('sha256').update(text(name)).digest('hex').slice(0, 16)
      assert.match(name, new RegExp(`^(app|docs|icon)-${hash}\\.(css|js|svg)$`))
    }
  })

  const acceptable: [header: string | undefined, gzip: boolean][] = [
    ['gzip, deflate, br, zstd', true],
    ['br,gzip', true],
    ['GZIP;q=0.5, br;q=0', true],
    ['gzip ; q=0.001', true],
    ['gzip;q=0', false],
    ['gzip; q=0.000 , *', false],
    ['br', false],
    ['identity', false],
    ['', false],
    [undefined, false],
  ]
  for (const [header, gzip] of acceptable)
    it(`Accept-Encoding ${header ?? '(none)'} ${gzip ? 'allows' : 'does not allow'} gzip`, () =>
      assert.equal(acceptsGzip(header), gzip))

  it('The style sheet and the script contain no typeface, crown or crest and request no other file', () => {
    assert.doesNotMatch(text(assets.css), /@font-face|@import|url\(|transport|crown|crest/i)
    assert.doesNotMatch(text(assets.js), /\bimport\b|innerHTML|\beval\b|fetch\(/)
  })

  it('The styles are less than 100 KB and the script less than 10 KB before compression', () => {
    assert.ok(text(assets.css).length < 100_000)
    assert.ok(text(assets.js).length < 10_000)
  })

  it('A missing build is reported with the command that makes it', () => {
    assert.throws(() => readAssets(new URL('./no-such-folder/', folder)), /run `npm run prepare`/)
  })
})
