import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '../../../src/app/config.ts'
import { startFarthing } from '../../../src/app/start.ts'
import { createClient } from '../../support/client.ts'
import { scratchFolder } from '../../support/folders.ts'
import { serve } from './serve.ts'

const losses: Record<string, (path: string) => void> = {
  'is deleted': path => rmSync(path),
  'is in a folder that is deleted': path => rmSync(dirname(path), { recursive: true }),
  'is in a folder that is moved': path => renameSync(dirname(path), `${dirname(path)}-moved`),
  'is replaced by a copy': path => {
    copyFileSync(path, `${path}.copy`)
    renameSync(`${path}.copy`, path)
  },
}

// These tests run at once, because they wait for the service to look at the file.
describe('A SQLite file', { concurrency: true }, () => {
  for (const [what, lose] of Object.entries(losses))
    test(`If the SQLite file ${what}, the service says so in one line and ends with code 1`, async t => {
      const path = join(scratchFolder(), 'data', 'farthing.db')
      const { service, api } = await serve(t, `sqlite:${path}`)
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
      assert.match(fatal[0] ?? '', /the SQLite file .*farthing\.db was deleted or replaced/)
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
    const { service, api } = await serve(t, `sqlite:${path}`)
    await setTimeout(2_500) // at least one look at the log that is there
    const { _links } = await api.createPayment()
    rmSync(`${path}-wal`)
    assert.deepEqual(await service.exited, { code: 1, signal: null })
    assert.match(service.output(), /the SQLite file .*farthing\.db-wal was deleted or replaced/)
    const again = await serve(t, `sqlite:${path}`)
    assert.equal((await again.api.get(_links.self.href)).status, 200)
  })

  test('A database in memory is not watched', async t => {
    const { service, api } = await serve(t, 'sqlite::memory:')
    await setTimeout(1_500)
    await api.createPayment()
    assert.deepEqual(await service.terminate(), { code: 0, signal: null })
  })
})
