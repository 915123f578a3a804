import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { createClient } from './support/client.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const PACKED = ['bin', 'src', 'scripts', 'package.json', 'README.md', 'LICENSE']
const CONFIG = ['tsconfig.json', 'tsconfig.build.json']
const KEY = 'a-key-for-the-package-test'

describe('The published package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'farthing-package-'))
  const source = join(folder, 'source')
  const empty = join(folder, 'empty')
  let tarball = ''

  before(async () => {
    // The build replaces files that other tests read, so it runs in a copy.
    for (const name of [...PACKED, ...CONFIG])
      cpSync(join(ROOT, name), join(source, name), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
    await run('npm', ['pack', '--pack-destination', folder], { cwd: source })
    tarball = readdirSync(folder).find(name => name.endsWith('.tgz')) ?? ''
    mkdirSync(empty)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('The tarball has the compiled service and nothing that users do not need', async () => {
    const { stdout } = await run('tar', ['-tzf', join(folder, tarball)])
    const files = stdout.trim().split('\n')
    for (const wanted of [
      'bin/farthing.js',
      'bin/installation.js',
      'dist/cli/main.js',
      'dist/ports.d.ts',
      'README.md',
      'LICENSE',
    ])
      assert.ok(files.includes(`package/${wanted}`), `${wanted} is missing`)
    const others = files.filter(
      name => !/^package\/(bin|dist)\/|\/(package\.json|README\.md|LICENSE)$/.test(name),
    )
    assert.deepEqual(others, [])
  })

  test('The tarball can be installed into an empty folder, and farthing starts and makes a payment', async t => {
    await run('npm', ['init', '--yes'], { cwd: empty })
    await run('npm', ['install', '--ignore-scripts', '--no-audit', join(folder, tarball)], {
      cwd: empty,
    })
    const farthing = spawn(join(empty, 'node_modules/.bin/farthing'), {
      cwd: empty,
      env: { ...process.env, PORT: '0', FARTHING_API_KEY: KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => farthing.kill('SIGKILL'))
    const [line] = await once(createInterface(farthing.stdout), 'line')
    const address = /http:\/\/\S+/.exec(String(line))?.[0] ?? ''
    const api = createClient([address], KEY)
    const payment = await api.createPayment()
    const page = await api.get(payment._links.next_url.href)
    assert.match(page.text, /Enter payment details/)
    assert.ok(readdirSync(join(empty, 'data')).includes('farthing.db'))
    farthing.kill('SIGTERM')
    const [code] = await once(farthing, 'exit')
    assert.equal(code, 0)
  })
})
