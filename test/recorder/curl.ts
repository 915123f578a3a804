/** Sends recorded exchanges with their curl commands through a real shell, and compares what arrives. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { asCurl } from '../../src/tools/record/curl.ts'
import type { Exchange } from '../../src/tools/record/exchange.ts'
import { nastyText } from '../faults/hostile-values.ts'
import { tempFolder } from '../support/folders.ts'
import { fc } from '../support/properties.ts'

export const hasCurl = spawnSync('curl', ['--version']).status === 0

const KEY = 'api_test_key'

/** Pieces that a shell, curl or printf would act on. */
const forShells = fc.constantFrom(
  "'",
  "'\\''",
  '"',
  '`touch hit`',
  '$(touch hit)',
  ';touch hit;',
  '\ntouch hit\n',
  '|touch hit',
  '\\',
  '\\n',
  '\\0',
  '%s',
  '%%',
  '%n',
  '!!',
  '~',
  '*',
  '?',
  '#x',
  '&',
  '> hit',
  '<<EOF',
  '$IFS',
  '@/etc/passwd',
  '@-',
  '-d',
  '--output hit',
  '-',
  'X;',
  '=',
  '{a,b}',
  '[1-3]',
  '\r\n',
  '\r',
  '\t',
  '\u001b[31m',
  '\u0007',
  '\u007f',
  '\u0085',
  '\u2028',
  '\u202e',
  '…',
  '💷',
  'è',
  '\ufeff',
)

const hostileText = fc
  .array(fc.oneof(forShells, nastyText), { maxLength: 6 })
  .map(parts => parts.join('').slice(0, 3_000).toWellFormed())

/** What an HTTP client can put in a header: no control characters but the tab, no space around it. */
const headerText = hostileText.map(text =>
  text
    .replace(/(?!\t)[\p{Cc}--[\u0080-\u009f]]/gv, '')
    .trim()
    .replace(/^\ufeff+|\ufeff+$/g, ''),
)

const forAddresses = fc.constantFrom('/../', '/./', '//', '%2e%2e/', '%00', '..', '/a')

const addressText = fc
  .array(fc.oneof(forShells, forAddresses, fc.string({ maxLength: 8 })), { maxLength: 5 })
  .map(parts => parts.join('').replace(/[^!-~]|#/g, ''))

const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined })

const sent = fc.record({
  method: fc.constantFrom('GET', 'POST', 'POST', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'),
  path: addressText.map(text => `/v1/${text.replaceAll('?', '')}`),
  query: addressText,
  body: optional(hostileText.filter(text => text !== '')),
  headers: fc.record({
    'content-type': optional(headerText),
    accept: optional(headerText),
    'user-agent': optional(headerText),
    'idempotency-key': optional(headerText),
  }),
})

type Sent = typeof sent extends fc.Arbitrary<infer Value> ? Value : never

function exchangeOf({ method, path, query, body, headers }: Sent): Exchange {
  const kept = Object.entries(headers).filter(([, value]) => value !== undefined)
  return {
    exchange_id: '',
    room: '',
    payment_id: null,
    message_id: null,
    kind: 'api',
    operation: 'createPayment',
    status: 201,
    refused: false,
    began: 0,
    at: 0,
    method,
    path,
    query,
    request_headers: Object.fromEntries(kept) as Record<string, string>,
    response_headers: {}, // without undefined
    ...(body !== undefined && { request_body: { text: body } }),
    ms: 1,
    ended: 'sent',
  }
}

type Arrived = { method: string; url: string; headers: string[]; body: string }

type Offered = { exchange: Exchange; command: string }

/** Runs commands in a folder, in which nothing may be left, and sends each of their requests, in this order. */
type Run = (offered: Offered[], folder: string) => Promise<void>

/** Returns how many of `count` random exchanges were offered as curl, after each arrived as it was. */
export async function checkCurl(count: number, seed: number, run: Run = runEach): Promise<number> {
  const arrived: Arrived[] = []
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url = '', rawHeaders } = request
    const body = Buffer.concat(chunks).toString('base64')
    arrived.push({ method, url, headers: rawHeaders, body })
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // a listening TCP server has no other kind of address
  const folder = tempFolder()
  try {
    const exchanges = fc.sample(sent, { numRuns: count, seed }).map(exchangeOf)
    const offered = exchanges.flatMap(exchange => {
      const curl = asCurl(exchange, `http://127.0.0.1:${port}`)
      return 'command' in curl ? [{ exchange, command: curl.command }] : []
    })
    await run(offered, folder)
    assert.equal(arrived.length, offered.length)
    for (const [i, { exchange, command }] of offered.entries())
      assert.deepEqual(readable(arrived[i]), expected(exchange), command)
    return offered.length
  } finally {
    server.close()
  }
}

/** Runs curl for each command. */
const runEach: Run = (offered, folder) =>
  runShell(
    offered.map(({ command }) => command),
    folder,
  )

/** Runs one shell for all lines: a quote that is left open would spoil all that follow. */
async function runShell(lines: string[], folder: string): Promise<void> {
  writeFileSync(join(folder, 'script'), `${lines.join('\n')}\n`)
  const home = join(folder, 'work')
  const shell = spawn('sh', ['-c', 'mkdir work && cd work && exec sh ../script'], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home, FARTHING_API_KEY: KEY },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [status, complaints] = await Promise.all([once(shell, 'close'), textOf(shell.stderr)])
  assert.deepEqual(status, [0, null], complaints)
  assert.deepEqual(readdirSync(home), [], 'nothing else was executed')
}

/** Instead of curl: keeps the arguments that the shell makes of the command, and its standard input. */
const INSTEAD_OF_CURL = `curl() {
  printf '%s\\0' "$@" > "../$n.arguments"
  case "$*" in *'--data-binary @-'*) cat > "../$n.body" ;; esac
}`
/** Bytes of arguments; Linux takes 2 MB. */
const MOST_BYTES = 500_000

/** Starts curl once for many commands, because its start takes longer than the rest. The shell runs each of them. */
export const runTogether: Run = async (offered, folder) => {
  const commands = offered.flatMap(({ command }, n) => [`n=${n}`, command])
  await runShell([INSTEAD_OF_CURL, ...commands], folder)
  let together: string[] = []
  let size = 0
  for (const n of offered.keys()) {
    const bytes = readFileSync(join(folder, `${n}.arguments`), 'utf8')
    const own = bytes.split('\0').slice(0, -1)
    const [last = '', before] = [own.at(-2), own.at(-3)]
    if (before === '--data-binary' && last === '@-')
      own.splice(-2, 1, `@${join(folder, `${n}.body`)}`)
    if (size + bytes.length > MOST_BYTES) {
      await runCurl(together)
      together = []
      size = 0
    }
    size += bytes.length
    together.push(...(together.length > 0 ? ['--next'] : []), '--silent', ...own)
  }
  await runCurl(together)
}

async function runCurl(options: string[]): Promise<void> {
  const curl = spawn('curl', options, { stdio: ['ignore', 'ignore', 'pipe'] })
  const [status, complaints] = await Promise.all([once(curl, 'close'), textOf(curl.stderr)])
  assert.deepEqual(status, [0, null], complaints)
}

/** Without what curl makes for each connection. */
function readable(given: Arrived | undefined) {
  if (!given) return undefined
  const { method, url, headers, body } = given
  const named: [string, string][] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? ''
    const bytes = Buffer.from(headers[i + 1] ?? '', 'latin1')
    if (!['host', 'content-length'].includes(name)) named.push([name, bytes.toString()])
  }
  return { method, url, headers: named.sort(), body: Buffer.from(body, 'base64').toString() }
}

function expected({ method, path, query, request_headers, request_body }: Exchange) {
  const headers = Object.entries({ ...request_headers, authorization: `Bearer ${KEY}` }).sort()
  return {
    method,
    url: path + (query && `?${query}`),
    headers,
    body: request_body?.text ?? '',
  }
}
