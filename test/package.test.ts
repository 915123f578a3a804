import assert from 'node:assert/strict'
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { bundleService } from '../scripts/bundle.ts'
import { labels } from '../scripts/image.ts'
import { tar } from '../scripts/tar.ts'
import { SETTINGS } from '../src/app/settings.ts'
import { createClient } from './support/client.ts'
import { tempFolder } from './support/folders.ts'
import { install, olderNode, packOnce, WITHOUT_COLLECTION } from './support/packed.ts'
import { freePort, isListening, listenUntilEnd, untilFree } from './support/ports.ts'
import { COMMAND, startProcess } from './support/process.ts'
import { runLines, shellBlocks, startLines } from './support/recipe.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..')
const KEY = 'a-key-for-the-package-test'
const read = (path: string): string => readFileSync(path, 'utf8')

describe('The package', () => {
  const folder = tempFolder()
  const user = join(folder, 'user')
  const unpacked = join(user, 'node_modules/farthing')
  let packed = { source: '', tarball: '' }
  let installing = ''

  before(async () => {
    packed = await packOnce()
    installing = (await install(packed.tarball, user)).output
  })

  test('has the bundled service and nothing that users do not need', async () => {
    const { stdout } = await run('tar', ['-tzf', packed.tarball])
    const files = stdout
      .trim()
      .split('\n')
      .map(name => name.replace('package/', ''))
    const outside = files.filter(name => !name.startsWith('dist/')).sort()
    const commands = ['bin/farthing.js', 'bin/installation.js', 'bin/package.json']
    assert.deepEqual(outside, ['LICENSE', 'README.md', ...commands, 'package.json'])
    for (const name of ['farthing.cjs', 'platform/database/sqlite/thread.cjs', 'licences.txt'])
      assert.ok(files.includes(`dist/${name}`), name)
    const typed = files.filter(name => /\.(c?ts|map)$/.test(name)).sort()
    assert.deepEqual(typed, ['dist/testing/index.d.cts', 'dist/testing/index.d.ts'])
  })

  test('Two builds of the bundle have the same bytes', async () => {
    const again = join(folder, 'again')
    await bundleService(again)
    // The tests of processes use the bundle that `npm test` has built.
    const first = join(COMMAND, '../../dist')
    for (const name of ['farthing.cjs', 'platform/database/sqlite/thread.cjs'])
      assert.ok(read(join(again, name)) === read(join(first, name)), name)
  })

  test('An archive of the release has files, folders and links, and nothing of the machine that made it', async () => {
    const file = join(folder, 'archive.tar')
    const content = 'x'.repeat(513)
    const entries = [
      { name: 'data', isFolder: true, mode: 0o700, owner: 1000 } as const,
      { name: 'bin/program', content, mode: 0o755 },
      { name: 'lib', link: 'usr/lib' },
    ]
    writeFileSync(file, tar(entries))
    const { stdout } = await run('tar', ['-tvf', file, '--numeric-owner', '--utc'])
    assert.deepEqual(stdout.trim().replaceAll(/ +/g, ' ').split('\n'), [
      'drwx------ 1000/1000 0 1970-01-01 00:00 data/',
      '-rwxr-xr-x 0/0 513 1970-01-01 00:00 bin/program',
      'lrwxrwxrwx 0/0 0 1970-01-01 00:00 lib -> usr/lib',
    ])
    await run('tar', ['-xf', file, '-C', folder, 'bin/program'])
    assert.equal(read(join(folder, 'bin/program')), content)
  })

  test('The package has a README of its own that needs no other file, and the clone keeps its README', () => {
    const readme = read(join(unpacked, 'README.md'))
    assert.equal(readme, read(join(ROOT, 'docs/package.md')))
    assert.doesNotMatch(readme, /\]\(|<img|docs\/|examples\//)
    assert.equal(read(join(packed.source, 'README.md')), read(join(ROOT, 'README.md')))
    assert.ok(!existsSync(join(packed.source, '.clone-readme.md')))
    assert.equal(read(join(packed.source, 'package.json')), read(join(ROOT, 'package.json')))
  })

  test('needs no other package and has no script that npm runs or asks about', () => {
    const { scripts, dependencies } = JSON.parse(read(join(unpacked, 'package.json')))
    assert.deepEqual([Object.keys(scripts), dependencies], [['prepack', 'postpack'], undefined])
    assert.doesNotMatch(installing, /script/)
    const installed = readdirSync(join(user, 'node_modules')).filter(name => !name.startsWith('.'))
    assert.deepEqual(installed, ['farthing'])
  })

  test('has the licence of each package that it contains', () => {
    const licences = read(join(unpacked, 'dist/licences.txt'))
    const [, ...each] = licences.split(/^(?=\S+ \d+\.\d+\.\d+, licence )/m)
    assert.ok(each.length > 40)
    for (const licence of each)
      assert.match(licence, /copyright.*(permi|redistribution)/is, licence.slice(0, 200))
    const { dependencies } = JSON.parse(read(join(ROOT, 'package.json')))
    for (const name of [...Object.keys(dependencies), 'avvio', 'swagger-ui-dist'])
      assert.match(licences, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, licence `, 'm'))
  })

  test('The types of the library need no other package, for each way to resolve modules', async () => {
    const { specification: examples } = JSON.parse(read('src/app/docs/examples/recorded.json'))
    const example = (operation: string) =>
      JSON.stringify(Object.values(examples[operation].responses[200])[0])
    const source = `import { startFarthing } from 'farthing/testing'
      import type { CheckReport, Finding, LoggedRequest, Payment, UndeliveredMessage } from 'farthing/testing'
      export async function pay(): Promise<Payment> {
        await using farthing = await startFarthing({ log: 'error' })
        return farthing.payment({ scenario: 'success', refund: 500 })
      }
      export const payment: Payment = ${example('readPayment')}
      type Page<Item> = { results: Item[]; next: string; previous: string }
      export const requests: Page<LoggedRequest> = ${example('listRequests')}
      export const messages: Page<UndeliveredMessage> = ${example('listMessages')}
      export const report: CheckReport = ${example('readCheck')}
      export const [finding]: Finding[] = report.findings
      // @ts-expect-error: a payment has no such field
      void payment.amounts
      // @ts-expect-error: not every payment has a code
      void payment.state.code.length`
    const signal = `import type { WaitOptions } from 'farthing/testing'
      export const options: WaitOptions = { signal: new AbortController().signal }`
    writeFileSync(join(user, 'signal.ts'), signal)
    // TypeScript's own types are large, and not what is checked here.
    const skipped = { skipLibCheck: false, skipDefaultLibCheck: true }
    const strict = { strict: true, ...skipped, noEmit: true, target: 'es2022' }
    const withNode = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] }
    const withDom = { lib: ['es2022', 'dom'], types: [] }
    for (const [files, options] of [
      [['pay.mts', 'pay.cts', 'signal.ts'], { module: 'nodenext', ...withNode }],
      [['pay.ts', 'signal.ts'], { module: 'esnext', moduleResolution: 'bundler', ...withDom }],
      [['pay.ts'], { module: 'commonjs', lib: ['es2022'], types: [] }],
    ] as const) {
      const compilerOptions = { ...strict, ...options }
      for (const file of files) if (file !== 'signal.ts') writeFileSync(join(user, file), source)
      writeFileSync(join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      const tsc = join(ROOT, 'node_modules/.bin/tsc')
      const how = { cwd: user, env: WITHOUT_COLLECTION, encoding: 'utf8' } as const
      const { status, stdout } = spawnSync(tsc, ['--singleThreaded'], how)
      assert.equal(status, 0, `${files}: ${stdout}`)
    }
    // TypeScript 5 reads this with `module` commonjs, because it then does not know `exports`.
    const { typesVersions } = JSON.parse(read(join(unpacked, 'package.json')))
    assert.ok(existsSync(join(unpacked, typesVersions['*'].testing[0])))
  })

  test('The library connects from an older Node and by require, and starts the service only on a new one', async t => {
    const settings = { DATABASE_URL: 'sqlite::memory:', FARTHING_API_KEY: KEY }
    const service = await startProcess({ env: { ...settings, FARTHING_CONTROL: 'true' } })
    t.after(() => service.kill())
    const { node, options } = olderNode()
    const script = `const { connectFarthing, startFarthing } = require('farthing/testing')
      startFarthing().catch(async error => {
        const farthing = await connectFarthing()
        const account = await farthing.account()
        const { state } = await account.payment({ scenario: 'declined' })
        await farthing.stop()
        console.log(error.message, state.status)
      })`
    const env = { ...process.env, FARTHING_URL: service.baseUrl, FARTHING_API_KEY: KEY }
    const args = [...options, '--input-type=commonjs', '--eval', script]
    const { stdout } = await run(node, args, { cwd: user, env })
    assert.match(stdout, /^startFarthing needs Node 24\.18\.1 or newer, and this is .+ failed\n$/)
  })

  describe('with the shell lines of its README', () => {
    const [start = '', create = '', script = '', listen = ''] = shellBlocks('docs/package.md')

    test('The steps of the README start Farthing, make a first payment and receive webhooks', async t => {
      const port = await freePort()
      const terminal = { cwd: user, port, env: { FARTHING_URL: `http://127.0.0.1:${port}` } }
      const service = await startLines(start, terminal, 'Farthing is listening on http')
      t.after(service.stop)
      const { stdout } = await runLines(create, terminal)
      assert.match(stdout, new RegExp(`^http://127\\.0\\.0\\.1:${port}/secure/`))
      assert.match(await (await fetch(stdout.trim())).text(), /Enter payment details/)
      assert.ok(readdirSync(join(user, 'data')).includes('farthing.db'))
      const listening = await startLines(listen, terminal, 'Signing key: webhook_test_')
      await listening.stop()
    })

    test('The script of the README starts, waits and stops, and nothing listens afterwards', async () => {
      const port = await freePort()
      const asked = `curl -s -o asked.json -w '%{http_code}' http://127.0.0.1:3000/readyz`
      const lines = script.replace(/^# your tests.*$/m, asked)
      const { code, stdout, stderr } = await runLines(lines, { cwd: user, port })
      assert.deepEqual([code, stdout], [0, '200'], stderr)
      assert.equal(await isListening(port), false)
    })
  })

  test('The steps of examples/github-actions.yaml run the example for node:test and the first test of docs/testing.md with the library of the package, and stop the service', async () => {
    const { jobs } = parse(read(join(ROOT, 'examples/github-actions.yaml')))
    const { env: settings, steps }: Job = jobs.test
    for (const name of Object.keys(settings)) assert.ok(isSetting(name), name)
    cpSync(join(ROOT, 'examples/javascript/node.test.mts'), join(user, 'node.test.mts'))
    const [, first = ''] = /```ts\n([\s\S]+?)```/.exec(read(join(ROOT, 'docs/testing.md'))) ?? []
    writeFileSync(join(user, 'first.test.mts'), first)
    // The check judges the payment of `farthing pay`. The tests make accounts of their own.
    const own = JSON.parse(read(join(user, 'package.json')))
    own.scripts = { test: 'farthing pay && node --test node.test.mts first.test.mts' }
    writeFileSync(join(user, 'package.json'), JSON.stringify(own))
    const port = await freePort()
    const written = join(folder, 'github-env')
    const FARTHING_URL = `http://127.0.0.1:${port}`
    const env: Record<string, string> = { ...settings, GITHUB_ENV: written, FARTHING_URL }
    let printed = ''
    // The package is installed above, from the same tarball.
    for (const { name, run: lines = '' } of steps.filter(
      step => step.run && step.name !== 'Install',
    )) {
      const { code, stdout, stderr } = await runLines(lines, { cwd: user, port, env })
      assert.equal(code, 0, `${name}: ${stdout}${stderr}`)
      printed += stdout
      const [, pid = ''] = /^SERVICE=(\d+)$/m.exec(read(written)) ?? []
      env.SERVICE = pid
    }
    assert.match(printed, /pass 4\b/)
    await untilFree(port)
  })

  test('The service runs after the steps of the Containerfile, done one by one without an engine', async t => {
    const image = join(folder, 'image')
    const inImage = (text: string, root = image) =>
      text.replaceAll(/(?<=^|[ :=])\/(tmp|data|home)\b/g, `${root}/$1`)
    const quotedImage = image.replaceAll(/[^\w/-]/g, '\\$&')
    const text = read(join(ROOT, 'Containerfile'))
    const steps = instructionsOf(text)
    mkdirSync(join(image, 'tmp'), { recursive: true })
    const [, target = ''] = /^farthing-\*\.tgz (\S+)$/.exec(steps.COPY ?? '') ?? []
    // An older tarball lies beside it, which is not a package.
    cpSync(packed.tarball, join(inImage(target), basename(packed.tarball)))
    writeFileSync(join(inImage(target), 'farthing-0.0.9.tgz'), '')
    // HOME may have the settings of a registry.
    const { HOME = '', NODE_COMPILE_CACHE = '' } = process.env
    const npm = { HOME, npm_config_prefix: image, npm_config_prefer_offline: 'true' }
    let settings: Record<string, string> = {}
    const PATH = `${join(image, 'bin')}${delimiter}${process.env.PATH}`
    for (const [, name, line = ''] of text.matchAll(/^(ENV|RUN) (.*)$/gm)) {
      if (name === 'ENV') {
        settings = Object.fromEntries(
          line.split(' ').map(setting => inImage(setting).split(/=(.*)/s, 2)),
        )
        continue
      }
      const lines = inImage(line, quotedImage).replace('chown node', 'chown "$(id -u)"')
      const env = { NODE_COMPILE_CACHE, ...npm, ...settings, PATH }
      const { code, stderr } = await runLines(lines, { cwd: image, port: 0, env })
      assert.equal(code, 0, stderr)
    }
    assert.ok(readdirSync(join(image, 'home/node/.cache/farthing')).length > 0)

    const [program = ''] = JSON.parse(steps.ENTRYPOINT ?? '[]')
    const farthing = spawn(join(image, 'bin', program), {
      cwd: inImage(steps.WORKDIR ?? ''),
      env: {
        PATH: process.env.PATH,
        PORT: '0',
        FARTHING_API_KEY: KEY,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => farthing.kill('SIGKILL'))
    const [line] = await once(createInterface(farthing.stdout), 'line')
    const [, port] = /:(\d+)$/.exec(String(line)) ?? []
    await createClient([`http://127.0.0.1:${port}`], KEY).createPayment()
    assert.ok(existsSync(inImage(`${steps.VOLUME}/farthing.db`)))
    const [, health = ''] = / CMD (\[.*\])$/.exec(steps.HEALTHCHECK ?? '') ?? []
    const [asks = '', ...args] = JSON.parse(health)
    const env = { PATH: process.env.PATH, ...settings, PORT: port }
    const { stdout } = await run(join(image, 'bin', asks), args, { env })
    assert.equal(stdout, `http://127.0.0.1:${port} is ready.\n`)
    for (const [name, value] of Object.entries(labels('')))
      assert.ok(value === '' || text.includes(`${name}="${value}"`), name)
    farthing.kill('SIGTERM')
    assert.deepEqual(await once(farthing, 'exit'), [0, null])
  })

  test('examples/fixed-address.yaml uses settings that exist, and one address', () => {
    const { farthing, proxy } = parse(read(join(ROOT, 'examples/fixed-address.yaml'))).services
    for (const name of Object.keys(farthing.environment)) assert.ok(isSetting(name), name)
    const { host } = new URL(farthing.environment.FARTHING_BASE_URL)
    assert.ok(proxy.command.startsWith(`caddy reverse-proxy --from ${host} --to farthing:3000 `))
    assert.deepEqual(proxy.networks.default.aliases, [host])
  })

  test('examples/compose.yaml uses settings that exist and a health check that works', async t => {
    const { services } = parse(read(join(ROOT, 'examples/compose.yaml')))
    const { environment, healthcheck, build } = services.farthing
    for (const name of Object.keys(environment)) assert.ok(isSetting(name), name)
    assert.equal(environment.FARTHING_BASE_URL, services.shop.environment.PAY_URL)
    assert.equal(environment.FARTHING_API_KEY, services.shop.environment.PAY_API_KEY)
    assert.equal(environment.FARTHING_SIGNING_KEY, services.shop.environment.PAY_SIGNING_KEY)
    assert.equal(new URL(environment.FARTHING_WEBHOOK_URL).hostname, 'shop')
    assert.ok(existsSync(join(ROOT, 'examples', build.context, build.dockerfile)))
    const [kind, program, ...args] = healthcheck.test
    assert.deepEqual([kind, program], ['CMD', 'farthing'])
    const path = join(user, 'node_modules/.bin/farthing')
    const ask = (port: number) =>
      once(spawn(path, args, { env: { PATH: process.env.PATH, PORT: String(port) } }), 'exit')
    assert.deepEqual(await ask(await freePort()), [4, null])
    const readiness = createServer((_request, response) => response.end('{"status":"ok"}'))
    assert.deepEqual(await ask(await listenUntilEnd(t, readiness)), [0, null])
  })
})

/** The instructions of a Containerfile. An instruction that occurs more than once has its last text. */
const instructionsOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([A-Z]+) (.*)$/gm)].map(([, name, rest]) => [name, rest]))

type Job = { env: Record<string, string>; steps: { name?: string; run?: string }[] }

const isSetting = (name: string): boolean => SETTINGS.some(setting => setting === name)
