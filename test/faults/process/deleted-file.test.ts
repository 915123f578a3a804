import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { createClient } from '../../support/client.ts'
import { scratchFolder } from '../../support/folders.ts'
import { startProcess } from '../../support/process.ts'

const FARTHING_API_KEY = 'key-of-the-default-account'

const losses: Record<string, (path: string) => void> = {
  'is deleted': path => rmSync(path),
  'is in a folder that is deleted': path => rmSync(dirname(path), { recursive: true }),
  'is in a folder that is moved': path => renameSync(dirname(path), `${dirname(path)}-moved`),
  'is replaced by a copy': path => {
    copyFileSync(path, `${path}.copy`)
    renameSync(`${path}.copy`, path)
  },
}

// At once, because they wait for looks at the file.
describe('A SQLite file', { concurrency: true }, () => {
  for (const [what, lose] of Object.entries(losses))
    test(`If the SQLite file ${what}, the service says so in one line and ends with code 1`, async t => {
      const path = join(scratchFolder(), 'data', 'farthing.db')
      const env = { DATABASE_URL: `sqlite:${path}`, FARTHING_API_KEY }
      const service = await startProcess({ env })
      t.after(() => service.kill())
      const api = createClient([service.baseUrl], FARTHING_API_KEY)
      await api.createPayment()
      await setTimeout(1_500) // at least one look at the file that is there
      assert.equal((await api.get('/readyz')).status, 200)
      lose(path)
      assert.deepEqual(await service.exited, { code: 1, signal: null })
      const fatal = service
        .output()
        .split('\n')
        .filter(line => line.includes('"level":60'))
      assert.equal(fatal.length, 1, service.output())
      assert.match(fatal[0] ?? '', /the SQLite file \S*farthing\.db was deleted or replaced/)
    })

  test('If the SQLite file is deleted, the service is not ready while it responds for the last time', async t => {
    const path = join(scratchFolder(), 'farthing.db')
    const { promise: fatal, resolve: onFatal } = Promise.withResolvers<unknown>()
    const config = readConfig({ PORT: '0', DATABASE_URL: `sqlite:${path}` })
    const farthing = await startFarthing({ config, onFatal })
    t.after(() => farthing.close())
    const api = createClient([farthing.url], farthing.apiKey)
    assert.equal((await api.get('/readyz')).status, 200)
    rmSync(path)
    await fatal
    assert.equal((await api.get('/readyz')).status, 503)
  })

  test('If only the write-ahead log is deleted, the service ends too, and what it acknowledged is in the file', async t => {
    const path = join(scratchFolder(), 'farthing.db')
    const env = { DATABASE_URL: `sqlite:${path}`, FARTHING_API_KEY }
    const service = await startProcess({ env })
    t.after(() => service.kill())
    const api = createClient([service.baseUrl], FARTHING_API_KEY)
    await setTimeout(2_500) // at least one look at the log that is there
    const { _links } = await api.createPayment()
    rmSync(`${path}-wal`)
    assert.deepEqual(await service.exited, { code: 1, signal: null })
    assert.match(service.output(), /the SQLite file \S*farthing\.db-wal was deleted or replaced/)
    const again = await startProcess({ env })
    t.after(() => again.kill())
    const kept = await createClient([again.baseUrl], FARTHING_API_KEY).get(
      new URL(_links.self.href).pathname,
    )
    assert.equal(kept.status, 200)
  })

  test('A database in memory is not watched', async t => {
    const env = { DATABASE_URL: 'sqlite::memory:', FARTHING_API_KEY }
    const service = await startProcess({ env })
    t.after(() => service.kill())
    const api = createClient([service.baseUrl], FARTHING_API_KEY)
    await setTimeout(1_500)
    await api.createPayment()
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
  })
})
