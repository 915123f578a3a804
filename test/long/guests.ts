/** The packed library under other tools that replace timers or intercept HTTP, and under older versions of Node. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tempFolder } from '../support/folders.ts'
import { install, pack } from '../support/packed.ts'
import type { Job } from './run.ts'

const run = promisify(execFile)

const TOOLS = ['sinon@21', 'nock@14', 'msw@2', 'jest@29', 'typescript@5']
/** On each the library connects to a service. */
const NODES = ['20.19.5', '22.20.0', '24.18.1']
/** The oldest on which it starts one. */
const STARTING_NODE = '24.18.1'

/** What each test does once its tool is in place. */
const USE = `
  const account = await farthing.account()
  const receiver = await account.receive()
  const waiting = account.waitForPayment({ reference: 'R', status: 'success' })
  const { payment_id } = await account.payment({ reference: 'R' })
  await account.complete(payment_id)
  await waiting
  await receiver.next()
  await account.clock.advance('7d')
  const { status } = await account.send('GET', '/v1/payments/' + payment_id)
  if (status !== 404) throw new Error('the payment is not gone: ' + status)
  await account.end()`

const scripts: Record<string, string> = {
  'sinon.mjs': `
    import sinon from 'sinon'
    import { startFarthing } from 'farthing/testing'
    const before = await startFarthing()
    // All but process.nextTick, without which Node's own HTTP stands still.
    const { timers } = sinon
    sinon.useFakeTimers({ toFake: Object.keys(timers).filter(name => name !== 'nextTick') })
    for (const farthing of [before, await startFarthing()]) { ${USE}
      await farthing.stop() }`,
  'nock.mjs': `
    import nock from 'nock'
    import { startFarthing } from 'farthing/testing'
    nock.disableNetConnect()
    nock.enableNetConnect('127.0.0.1')
    const farthing = await startFarthing()
    ${USE}
    await farthing.stop()`,
  'msw.mjs': `
    import { http, passthrough } from 'msw'
    import { setupServer } from 'msw/node'
    import { startFarthing } from 'farthing/testing'
    const server = setupServer(http.all(/^http:\\/\\/127\\.0\\.0\\.1/, () => passthrough()))
    server.listen({ onUnhandledRequest: 'error' })
    const farthing = await startFarthing()
    ${USE}
    await farthing.stop()
    server.close()`,
  'blocked.mjs': `
    import { spawnSync } from 'node:child_process'
    import { startFarthing } from 'farthing/testing'
    const farthing = await startFarthing()
    const { stdout } = spawnSync('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', farthing.url + '/healthz'])
    if (String(stdout) !== '200') throw new Error('while the thread is blocked: ' + stdout)
    await farthing.stop()`,
}

const JEST = `
  const { startFarthing } = require('farthing/testing')
  test('fake timers of Jest do not touch the library', async () => {
    jest.useFakeTimers()
    const farthing = await startFarthing()
    ${USE}
    await farthing.stop()
  })`

/** TypeScript 5 does not read `exports` of a package with this module. */
const COMMONJS = '--noEmit --strict --skipLibCheck --target es2022 --module commonjs'.split(' ')
const TYPES = `import { type Payment, startFarthing } from 'farthing/testing'
  export const pay = async (): Promise<Payment> => (await startFarthing()).payment()`

/** As a module and as CommonJS. */
const both = (name: string, call: string) => ({
  [`${name}.mjs`]: `import { ${call} } from 'farthing/testing'
    const farthing = await ${call}()
    ${USE}
    await farthing.stop()`,
  [`${name}.cjs`]: `const { ${call} } = require('farthing/testing')
    void (async () => { const farthing = await ${call}()
    ${USE}
    await farthing.stop() })()`,
})
const START = both('start', 'startFarthing')
const CONNECT = both('connect', 'connectFarthing')

export const job: Job = {
  title: 'The library beside sinon, nock, MSW and Jest 29, and on Node 20, 22 and 24',
  async run() {
    const folder = tempFolder()
    const { tarball } = await pack(folder)
    const user = join(folder, 'user')
    await install(tarball, user)
    const options = { cwd: user, timeout: 120_000 }
    await run('npm', ['install', '--no-audit', ...TOOLS], { cwd: user })
    for (const [name, text] of Object.entries({
      ...scripts,
      ...CONNECT,
      ...START,
      'jest.test.cjs': JEST,
      'types.ts': TYPES,
    }))
      writeFileSync(join(user, name), text)
    for (const name of Object.keys(scripts)) await run(process.execPath, [name], options)
    const jest = ['--testMatch', '**/jest.test.cjs']
    await run(join(user, 'node_modules/.bin/jest'), jest, options)
    await run(join(user, 'node_modules/.bin/tsc'), [...COMMONJS, 'types.ts'], options)
    const done = [...Object.keys(scripts), 'jest 29', 'TypeScript 5']
    const { startFarthing } = await import('../../src/testing/library.ts')
    await using farthing = await startFarthing()
    const env = { ...process.env, ...farthing.env }
    for (const version of NODES) {
      const at = join(folder, `node-${version}`)
      await run('npm', ['install', '--no-audit', '--prefix', at, `node@${version}`])
      const names = Object.keys(version === STARTING_NODE ? { ...CONNECT, ...START } : CONNECT)
      for (const name of names)
        await run(join(at, 'node_modules/.bin/node'), [name], { ...options, env })
      done.push(`Node ${version}`)
    }
    return done.join(', ')
  },
}
