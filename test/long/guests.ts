/** The packed library with tools of its users: runners of the examples, fake timers, older versions of Node. */
import { execFile } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startFarthing } from '../../src/testing/library.ts'
import { unpackChromium } from '../support/browser.ts'
import { tempFolder } from '../support/folders.ts'
import { install, pack } from '../support/packed.ts'
import type { Job } from './run.ts'

const run = promisify(execFile)
const EXAMPLES = join(import.meta.dirname, '../../examples/javascript')

const TOOLS = ['vitest@5', 'jest@30', '@playwright/test@1', 'typescript@6', 'sinon@21']
const TYPES_ONLY = ['@types/node@24', 'testcontainers', 'cypress']
/** The library must connect to a service on each of these. */
const NODES = ['20.19.5', '22.20.0', '24.18.1']
/** The oldest version on which the library starts a service. */
const STARTING_NODE = '24.18.1'

/** The part that each script runs once its tool is in place. */
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
  await account.end()
  await farthing.stop()`

/** Scripts whose tools run in the test's own thread. */
const scripts: Record<string, string> = {
  'sinon.mjs': `
    import sinon from 'sinon'
    import { startFarthing } from 'farthing/testing'
    const before = await startFarthing()
    // All but process.nextTick, without which Node's own HTTP stands still.
    const { timers } = sinon
    sinon.useFakeTimers({ toFake: Object.keys(timers).filter(name => name !== 'nextTick') })
    for (const farthing of [before, await startFarthing()]) { ${USE} }`,
  'blocked.mjs': `
    import { spawnSync } from 'node:child_process'
    import { startFarthing } from 'farthing/testing'
    const farthing = await startFarthing()
    const { stdout } = spawnSync('curl', ['-s', '-o', '/dev/null', '-w', '%{http_code}', farthing.url + '/healthz'])
    if (String(stdout) !== '200') throw new Error('while the thread is blocked: ' + stdout)
    await farthing.stop()`,
}

/** The script as a module and as CommonJS. */
const both = (name: string, call: string) => ({
  [`${name}.mjs`]: `import { ${call} } from 'farthing/testing'
    const farthing = await ${call}()
    ${USE}`,
  [`${name}.cjs`]: `const { ${call} } = require('farthing/testing')
    void (async () => { const farthing = await ${call}()
    ${USE} })()`,
})
const START = both('start', 'startFarthing')
const CONNECT = both('connect', 'connectFarthing')

const configuration = (executablePath: string): Record<string, string> => ({
  'vitest.config.mjs':
    "export default { test: { globalSetup: './vitest.setup.ts', include: ['vitest.test.ts'] } }\n",
  'jest.config.cjs':
    "module.exports = { globalSetup: './jest.setup.cjs', globalTeardown: './jest.teardown.cjs', testMatch: ['**/jest.test.cjs'] }\n",
  'playwright.config.mjs': `export default { globalSetup: './playwright.setup.ts', testMatch: 'playwright.spec.ts', workers: 8, fullyParallel: true,
     use: { launchOptions: { executablePath: ${JSON.stringify(executablePath)}, args: ['--no-sandbox'] } } }\n`,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2022', 'dom', 'esnext.disposable'],
      // The types of Cypress and Vitest contradict each other.
      strict: true,
      noEmit: true,
      types: ['node'],
      skipLibCheck: true,
    },
    include: ['*.ts'],
  }),
})

export const job: Job = {
  title: 'The library in the examples for test runners, beside sinon, and on Node 20, 22 and 24',
  async run() {
    const folder = tempFolder()
    const { tarball } = await pack(folder)
    const user = join(folder, 'user')
    await install(tarball, user)
    const options = { cwd: user, env: { ...process.env, CYPRESS_INSTALL_BINARY: '0' } }
    await run('npm', ['install', '--no-audit', ...TOOLS, ...TYPES_ONLY], options)
    await run('npm', ['pkg', 'set', 'type=module'], options)
    cpSync(EXAMPLES, user, { recursive: true })
    const files = { ...configuration(await unpackChromium()), ...scripts, ...CONNECT, ...START }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(user, name), text)
    for (const command of ['tsc', 'vitest run', 'jest', 'playwright test']) {
      const [program = '', ...args] = command.split(' ')
      await run(join(user, 'node_modules/.bin', program), args, options)
    }
    for (const name of Object.keys(scripts)) await run(process.execPath, [name], options)
    await using farthing = await startFarthing()
    const env = { ...process.env, ...farthing.env }
    for (const version of NODES) {
      const at = join(folder, `node-${version}`)
      await run('npm', ['install', '--no-audit', '--prefix', at, `node@${version}`])
      const names = Object.keys(version === STARTING_NODE ? { ...CONNECT, ...START } : CONNECT)
      for (const name of names)
        await run(join(at, 'node_modules/.bin/node'), [name], { cwd: user, env })
    }
    return [...TOOLS, ...NODES.map(version => `Node ${version}`)].join(', ')
  },
}
