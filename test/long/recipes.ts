/** The examples for test runners, run with the packed Farthing and with runners from the registry. */
import { execFile } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unpackChromium } from '../support/browser.ts'
import { tempFolder } from '../support/folders.ts'
import { install, pack } from '../support/packed.ts'
import type { Job } from './run.ts'

const run = promisify(execFile)
const EXAMPLES = join(import.meta.dirname, '../../examples/javascript')

const RUNNERS = ['vitest@5', 'jest@30', '@playwright/test@1', 'typescript@6', '@types/node@24']
const TYPES_ONLY = ['testcontainers', 'cypress']

const config = {
  'vitest.config.mjs':
    "export default { test: { globalSetup: './vitest.setup.ts', include: ['vitest.test.ts'] } }\n",
  'jest.config.cjs':
    "module.exports = { globalSetup: './jest.setup.cjs', globalTeardown: './jest.teardown.cjs', testMatch: ['**/jest.test.cjs'] }\n",
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
}

const playwrightConfig = (executablePath: string) =>
  `export default { globalSetup: './playwright.setup.ts', testMatch: 'playwright.spec.ts', workers: 8, fullyParallel: true,
     use: { launchOptions: { executablePath: ${JSON.stringify(executablePath)}, args: ['--no-sandbox'] } } }\n`

export const job: Job = {
  title: 'Examples for Vitest, Jest, Playwright, Cypress and Testcontainers',
  async run() {
    const folder = tempFolder()
    const { tarball } = await pack(folder)
    const user = join(folder, 'user')
    await install(tarball, user)
    const options = { cwd: user, env: { ...process.env, CYPRESS_INSTALL_BINARY: '0' } }
    await run('npm', ['install', '--no-audit', ...RUNNERS, ...TYPES_ONLY], options)
    await run('npm', ['pkg', 'set', 'type=module'], options)
    cpSync(EXAMPLES, user, { recursive: true })
    for (const [name, text] of Object.entries(config)) writeFileSync(join(user, name), text)
    writeFileSync(join(user, 'playwright.config.mjs'), playwrightConfig(await unpackChromium()))
    const steps: [string, string[]][] = [
      ['tsc', []],
      ['vitest', ['run']],
      ['jest', []],
      ['playwright', ['test']],
    ]
    for (const [command, args] of steps)
      await run(join(user, 'node_modules/.bin', command), args, options)
    return steps.map(([command]) => command).join(', ')
  },
}
