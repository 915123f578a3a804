/** Sends recorded exchanges with their curl commands through a real shell, and compares what arrives. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { buffer, text as textOf } from 'node:stream/consumers'
import { asCurl } from '../../src/tools/record/curl.ts'
import type { Exchange } from '../../src/tools/record/exchange.ts'
import { nastyText } from '../faults/hostile-values.ts'
import { tempFolder } from '../support/folders.ts'
import { listen } from '../support/ports.ts'
import { fc } from '../support/properties.ts'
import { keptCreate } from '../support/record.ts'

export const hasCurl = spawnSync('curl', ['--version']).status === 0

const KEY = 'api_test_key'

/** Pieces that a shell, curl or printf would act on. */
const forShells = fc.constantFrom(
  ...String.raw`' '\'' " \ \n \0 %s %% %n !! ~ * ? #x & <<EOF $IFS @/etc/passwd @- -d - X; = {a,b} [1-3]`.split(
    ' ',
  ),
  ...'`touch hit`|$(touch hit)|;touch hit;|\ntouch hit\n|> hit|--output hit'.split('|'),
  ...'\r\n|\r|\t|\u001b[31m|\u0007|\u007f|\u0085|\u2028|\u202e|…|💷|è|\ufeff'.split('|'),
  '|touch hit',
)

const hostileText = fc
  .array(fc.oneof(forShells, nastyText), { maxLength: 6 })
  .map(parts => parts.join('').slice(0, 3_000).toWellFormed())

/** The texts that an HTTP client can put in a header: no control characters but the tab, no space around. */
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
    ...keptCreate,
    method,
    path,
    query,
    request_headers: Object.fromEntries(kept) as Record<string, string>, // without undefined
    ...(body !== undefined && { request_body: { text: body } }),
  }
}

type Arrived = { method: string; url: string; headers: http.IncomingHttpHeaders; body: string }

/** Returns how many of `count` random exchanges were offered as curl, after each arrived as it was. */
export async function checkCurl(count: number, seed: number): Promise<number> {
  const arrived: Arrived[] = []
  const server = http.createServer(async (request, response) => {
    const { method = '', url = '', headers } = request
    arrived.push({ method, url, headers, body: (await buffer(request)).toString() })
    response.end()
  })
  const port = await listen(server)
  try {
    const exchanges = fc.sample(sent, { numRuns: count, seed }).map(exchangeOf)
    const offered = exchanges.flatMap(exchange => {
      const curl = asCurl(exchange, `http://127.0.0.1:${port}`)
      return 'command' in curl ? [{ exchange, command: curl.command }] : []
    })
    await runShell(
      offered.map(({ command }) => command),
      tempFolder(),
    )
    assert.equal(arrived.length, offered.length)
    for (const [i, { exchange, command }] of offered.entries())
      assert.deepEqual(readable(arrived[i]), expected(exchange), command)
    return offered.length
  } finally {
    server.close()
  }
}

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

/** Leaves out the headers that curl makes for each connection. */
function readable(given: Arrived | undefined) {
  const { host, 'content-length': _, ...headers } = given?.headers ?? {}
  const named = Object.entries(headers).map(([name, value]) => [
    name,
    Buffer.from(String(value), 'latin1').toString(),
  ])
  return { ...given, headers: named.sort() }
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
