import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { acceptsGzip, assets, readAssets } from '../../src/platform/web/assets.ts'

const folder = new URL('../../src/platform/web/assets/built/', import.meta.url)
const { files } = readAssets(folder)

async function read(name: string): Promise<string> {
  const file = files.get(name)
  assert.ok(file, name)
  return (await file.plain()).toString()
}

it('The name of each asset contains a hash of its content', async () => {
  assert.equal(files.size, 7)
  for (const name of files.keys()) {
    const digest = hash('sha256', await read(name)).slice(0, 16)
    assert.match(name, new RegExp(`^(app|docs|console|icon)-${digest}\\.(css|js|svg)$`))
  }
})

const acceptable = ['gzip, deflate, br, zstd', 'br,gzip', 'GZIP;q=0.5, br;q=0', 'gzip ; q=0.001']
const others = ['gzip;q=0', 'gzip; q=0.000 , *', 'br', 'identity', '', undefined]
for (const header of [...acceptable, ...others])
  it(`Accept-Encoding ${header ?? '(none)'} allows gzip only where it names it with a weight`, () =>
    assert.equal(acceptsGzip(header), acceptable.includes(header ?? '')))

it('The style sheet and the script contain no typeface, crown or crest and request no other file', async () => {
  const foreign = /@font-face|@import|url\(|transport|crown|crest|\uFEFF/i
  for (const name of [assets.css, assets.consoleCss]) assert.doesNotMatch(await read(name), foreign)
  assert.doesNotMatch(await read(assets.js), /\bimport\b|innerHTML|\beval\b|fetch\(/)
})

it('The styles are less than 100 KB and the script less than 10 KB, to which the console adds less than 15 KB and 4 KB in brotli', async () => {
  assert.ok((await read(assets.css)).length < 100_000)
  assert.ok((await read(assets.js)).length < 10_000)
  const sizeOf = async (name: string) => brotliCompressSync(await read(name)).length
  assert.ok((await sizeOf(assets.consoleCss)) < 15_000)
  assert.ok((await sizeOf(assets.consoleJs)) < 4_000)
})

it('The viewer is less than 600 KB in gzip and begins with the notices of its licences', async () => {
  let size = 0
  for (const name of [assets.docsCss, assets.docsJs]) {
    assert.match(await read(name), /^\/\*!\nContains Swagger UI.+Copyright 2020-2021 SmartBear/s)
    size += (await files.get(name)!.gzipped()).length
  }
  assert.ok(size < 600_000, `${size}`)
  const script = await read(assets.docsJs)
  for (const notice of ['Apache License', 'Facebook, Inc.', 'Jed Watson'])
    assert.ok(script.includes(notice), notice)
})

it('A file is read when it is first requested', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farthing-assets-'))
  await writeFile(join(folder, 'manifest.json'), '{ "css": "app-0.css" }')
  const { files } = readAssets(pathToFileURL(`${folder}/`))
  await writeFile(join(folder, 'app-0.css'), 'first')
  const plain = () => files.get('app-0.css')!.plain()
  assert.equal((await plain()).toString(), 'first')
  await rm(folder, { recursive: true })
  assert.equal((await plain()).toString(), 'first')
})

it('A missing build is reported with the command that makes it', () => {
  const missing = new URL('./no-such-folder/', folder)
  assert.throws(() => readAssets(missing), /run `npm run build:assets`/)
})
