import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { SETTINGS } from '../src/app/settings.ts'
import { createClient, sendUnchecked, webPayment } from './support/client.ts'
import { runHere } from './support/command.ts'
import { tempFolder } from './support/folders.ts'
import { runProcess, startProcess } from './support/process.ts'

/** Lists the files that a process loads, in the file LOADED. */
const LISTING = `import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, nextLoad) {
    appendFileSync(process.env.LOADED, url.replace(/.*\\/(src|node_modules)\\//, '') + '\\n')
    return nextLoad(url, context)
  },
})`

/** The service without its command line, which loads the tools at once when it runs from the sources. */
const SERVICE = `const { readConfig } = await import(process.env.SOURCES + 'app/config.ts')
const { startFarthing } = await import(process.env.SOURCES + 'app/start.ts')
const service = await startFarthing({ config: readConfig(process.env) })
process.on('SIGTERM', () => service.close().then(() => process.exit(0)))
console.log('Farthing is listening on ' + service.url)`

/** The rules of the check run on every recorded request. The rest of tools/explain waits for somebody to ask. */
const RULES = ['judge', 'facts', 'finding', 'production', 'rule', 'sources', 'values'].map(
  name => `tools/explain/check/${name}.ts`,
)
const isLate = (path: string) =>
  /^(commander|@bomb.sh|prom-client|tools\/(console|control|steer|lists|explain)\/|app\/(tools|docs\/(?!routes))|pay\/hosted\/(?!routes)|testing\/)/.test(
    path,
  ) && !RULES.includes(path)

const env = { PORT: 'abc' }
const farthing = (...args: string[]) => runHere({ args, env })

function listing() {
  const folder = tempFolder()
  const preload = join(folder, 'listing.mjs')
  writeFileSync(preload, LISTING)
  const LOADED = join(folder, 'loaded')
  const NODE_OPTIONS = `--import ${pathToFileURL(preload)}`
  const env = { LOADED, NODE_OPTIONS, DATABASE_URL: 'sqlite::memory:' }
  return { folder, env, loaded: () => readFileSync(LOADED, 'utf8').trim().split('\n') }
}

test('Starting the service does not load commander, which every other command loads', async t => {
  const { env, loaded } = listing()
  const isOfCommands = (path: string) => /^(commander|@bomb.sh)/.test(path)
  // The next test starts the service without arguments.
  const started = await startProcess({ args: ['serve'], env, fromSources: true })
  t.after(() => started.kill())
  assert.deepEqual(await started.terminate(), { code: 0, signal: null })
  assert.deepEqual(loaded().filter(isOfCommands), [])
  await runProcess({ args: ['keys', 'list'], env, fromSources: true })
  assert.ok(loaded().some(isOfCommands))
})

test('A start and requests under /v1 load no command, hosted page, console, control, explanation or document, which load once for the first request', async t => {
  const { folder, env, loaded } = listing()
  const FARTHING_API_KEY = 'key_of_the_first_request'
  const program = join(folder, 'service.mjs')
  writeFileSync(program, SERVICE)
  const SOURCES = new URL('../src/', import.meta.url).href
  const own = { FARTHING_API_KEY, FARTHING_CONTROL: 'true', SOURCES }
  const started = await startProcess({ env: { ...env, ...own }, program })
  t.after(() => started.kill())
  const { baseUrl } = started
  async function send(path: string, method = 'GET', json?: object) {
    const ask = () => sendUnchecked(baseUrl + path, { key: FARTHING_API_KEY, method, json })
    const answer = await ask()
    // Loading may take a slow machine longer than a request may take to arrive.
    return answer.status === 408 ? ask() : answer
  }
  const statuses = async (...sent: Promise<{ status: number }>[]) =>
    (await Promise.all(sent)).map(({ status }) => status)
  const sent = [send('/v1/payments', 'POST', webPayment), send('/v1/payments'), send('/v1/none')]
  assert.deepEqual(await statuses(...sent), [201, 200, 404])
  assert.deepEqual(loaded().filter(isLate), [])
  assert.deepEqual(await statuses(send('/secure/none'), send('/secure/none')), [404, 404])
  const first = [send('/control/reset', 'POST'), send('/console/sign-in'), send('/control/none')]
  assert.deepEqual(await statuses(...first, send('/console/sign-in', 'PUT')), [200, 200, 404, 405])
  const once = ['app/tools', 'pay/hosted/pages', 'tools/console/pages', 'tools/control/routes']
  const found = loaded().filter(path => once.includes(path.replace('.ts', '')))
  assert.deepEqual(
    found.sort(),
    once.map(path => `${path}.ts`),
  )
  assert.deepEqual(await started.terminate(), { code: 0, signal: null })
})

test('The bundled service starts, and takes a payment, without the modules for TLS', async t => {
  const preload = join(tempFolder(), 'modules.cjs')
  const loaded = `${preload}.loaded`
  const list = `process.moduleLoadList.join('\\n')`
  writeFileSync(
    preload,
    `process.on('exit', () => require('fs').writeFileSync('${loaded}', ${list}))`,
  )
  const FARTHING_API_KEY = 'key_of_the_first_request'
  const env = { FARTHING_API_KEY, DATABASE_URL: 'sqlite::memory:' }
  const started = await startProcess({ env: { ...env, NODE_OPTIONS: `--require "${preload}"` } })
  t.after(() => started.kill())
  await createClient([started.baseUrl], FARTHING_API_KEY).createPayment()
  assert.deepEqual(await started.terminate(), { code: 0, signal: null })
  const modules = readFileSync(loaded, 'utf8').split('\n')
  assert.ok(modules.includes('NativeModule http'))
  const unwanted = modules.filter(name => /NativeModule (tls|https|http2)$/.test(name))
  assert.deepEqual(unwanted, [])
})

test('--version prints the version and --help lists every command and setting', async () => {
  const version = await farthing('--version')
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
  const { code, stdout } = await farthing('--help')
  assert.equal(code, 0)
  for (const word of ['serve', 'keys', 'seed', 'backup', 'completion', ...SETTINGS])
    assert.match(stdout, new RegExp(`^ .*\\b${word}\\b`, 'm'), word)
  assert.doesNotMatch(stdout, /\]\(|`/, 'it is no Markdown')
})

test('Wrong usage ends with code 2 and a message that says what to change', async () => {
  for (const [line, says] of Object.entries({
    start: /unknown command 'start'\n\(Did you mean serve\?\)/,
    'key list': /unknown command 'key'\n\(Did you mean keys\?\)/,
    'keys crate': /unknown command 'crate'\n\(Did you mean create\?\)/,
    'seed --payments 5 --acount a': /unknown option '--acount'\n\(Did you mean --account\?\)/,
    'serve twice': /too many arguments for 'serve'.* got 1: twice/,
    'keys create foo': /too many arguments for 'create'.* got 1: foo/,
    'keys list --account a': /unknown option '--account'/,
    'keys revoke': /missing required argument 'id'/,
    backup: /missing required argument 'file'/,
    'backup a b': /too many arguments for 'backup'.* got 2: a, b/,
    seed: /required option '--payments <number>' not specified/,
    'seed --payments 1.5': /'1\.5' is invalid\. It must be a whole number from 1 to/,
    'seed --payments=-1': /It must be a whole number from 1 to/,
    'seed --payments 0': /It must be a whole number from 1 to/,
    'seed --payments 100000001': /It must be a whole number from 1 to/,
    'seed --payments 5 --account ../x': /It must be 1 to 64 letters/,
    'pay --url http://a/v1':
      /must not end in \/v1, which Farthing adds itself: set it to http:\/\/a/,
    'pay --amount 10000001': /It must be a whole number from 0 to 10000000/,
    'pay sucess': /'sucess' is invalid.*\. It must be one of success,.*\. Did you mean success\?/,
    'pay --moto cancel': /must be one of success, declined, error for a payment with/,
    'pay --cannot-retry': /can_retry needs the scenario declined/,
    'pay --hold': /hold needs authorisation_mode agreement/,
    'pay declined --refund': /only a payment that succeeds/,
    'pay --set amount': /It must be NAME=VALUE/,
    'pay --set amuont=5': /A payment has no field amuont\. Did you mean amount\?/,
    'trigger card_payment_settled': /must be one of card_payment_succeeded,/,
    'logs --since yesterday': /It must be a number with s, m, h or d/,
    'resend x --damage all': /must be one of digit, missing/,
    verify: /give the header Pay-Signature with --signature/,
    'verify --signature 0': /the variable SIGNING_KEY is not set/,
    'listen --events card_payment_paid': /'card_payment_paid' is invalid\. It must be some of /,
    'listen --forward-to ftp://localhost:4000': /must be an http or https address, such as/,
    'listen --forward-to localhost:port': /must be an http or https address/,
    'listen --header nonsense': /It must be 'Name: value'/,
    'listen --forward-to 4567 --header X-Team:✓': /in characters of Latin-1/,
    'listen --header X-Team:a': /--header and --insecure have an effect only with --forward-to/,
    'listen --insecure': /have an effect only with --forward-to/,
    'listen --forget --missed': /--forget takes no option but --name/,
    'pay --agreement --cannot-retry':
      /'--agreement <id>'.* A value is missing before --cannot-retry/,
    'pay --refund abc':
      /'--refund \[pence\]' argument 'abc' is invalid\. It must be a whole number/,
    'pay --amount 5 --set amount=7': /--amount and --set amount are the same field/,
    'pay --capture --set delayed_capture=false': /--capture and --set delayed_capture are the same/,
    'listen --print-signing-key --forward-to 4567':
      /--print-signing-key takes no option but --name/,
    'check --situations --probe id':
      /--situations shows no rule: leave out --probe, --ignore and --fail-on/,
    'check --situations --fail-on warn': /--situations shows no rule/,
    'pay --amount 5 --amount 6': /'--amount <pence>' argument '6' is invalid\. It is given twice/,
    'check --fail-on fail --fail-on warn': /'warn' is invalid\. It is given twice/,
    'logs --operation createPayment --operation readPayment': /It is given twice/,
    'pay --set metadata.a=1 --set metadata.a=2': /'metadata\.a=2' is invalid\. a is given twice/,
    'pay --set amount=1 --set amount=2': /amount is given twice/,
    'pay --set prefilled_cardholder_details.adress=x': /no field adress\./,
    'logs --payment ': /'--payment <id>' argument '' is invalid\. It is empty/,
    'verify --ask ': /It is empty/,
    'check --probe ': /It is empty/,
    'resend ': /argument 'message-id'\. It is empty/,
    'completion tcsh': /'tcsh' is invalid.*zsh, bash, fish/,
    '--port 4000': /unknown option '--port': set the environment variable PORT instead/,
    'serve --api-key=x': /'--api-key': set the environment variable FARTHING_API_KEY instead/,
  })) {
    const { code, stdout, stderr } = await farthing(...line.split(' '))
    assert.equal(code, 2, line)
    assert.equal(stdout, '', line)
    assert.match(stderr, new RegExp(`^farthing: .*${says.source}`), line)
    const more = stderr.trim().split('\n').at(-1) ?? ''
    const [, named = ''] = /^\(farthing(.*) --help /.exec(more) ?? []
    assert.ok(` ${line} `.startsWith(`${named} `), more)
    const isKnown =
      /^ (keys( create| list| revoke)?|serve|backup|seed|completion|pay|trigger|listen|logs|verify|check|resend)$/
    assert.equal(isKnown.test(named), !/^(start|key|--port) /.test(`${line} `), more)
  }
  const { code, stderr } = await farthing('keys')
  assert.equal(code, 2)
  assert.match(stderr, /^Usage: farthing keys .*create/s)
})

test('completion prints a script for bash, zsh and fish that asks the command itself', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await farthing('completion', shell)
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`# ${shell} completion for farthing`))
    assert.match(stdout, /complete --/)
  }
  const words = async (...typed: string[]) =>
    (await farthing('complete', '--', ...typed)).stdout.split('\n').map(line => line.split('\t')[0])
  assert.deepEqual(await words('keys', ''), ['create', 'list', 'revoke', 'help', ':4', ''])
  const scenarios = ['success', 'declined', 'error', 'cancel']
  assert.deepEqual(await words('pay', ''), [...scenarios, ':4', ''])
  assert.deepEqual(await words('backup', ''), [':0', ''], 'the shell completes names of files')
  const { stdout: all } = await farthing('complete', '--', '')
  assert.match(all, /^([a-z]+\t.+\n){10,}:4\n$/, 'the shell takes each line as a candidate')
  assert.match(all, /^completion\tprint a script for your shell that completes commands$/m)
})
