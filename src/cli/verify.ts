import { fstatSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import type { Config } from '../core/config.ts'
import {
  type Analysis,
  analyse,
  type Question,
  type SentMessage,
} from '../tools/signature/analyse.ts'
import type { NamedKey } from '../tools/signature/keys.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { colour, print, printJson } from './output.ts'
import { type Body, connect, nameOf, type Service, type ServiceOptions } from './running-service.ts'

type VerifyOptions = ServiceOptions & {
  signature?: string
  computed?: string
  keyEnv?: string
  message?: string
  json?: boolean
}

export type Env = Record<string, string | undefined>

const DEFAULT_VARIABLE = 'SIGNING_KEY'

/** `farthing verify`: exit code 3 if the signature does not match. */
export async function verify(
  config: () => Config,
  env: Env,
  options: VerifyOptions,
): Promise<number> {
  const { message, signature, keyEnv, key, computed } = options
  if (message === undefined && signature === undefined)
    throw wrongUsage('give the header Pay-Signature with --signature, or a message with --message')
  if (key === '-') throw wrongUsage('--key - is not possible here: standard input is the body')
  // Never trimmed: a newline at its end is one of the mistakes.
  const signingKey = env[keyEnv ?? DEFAULT_VARIABLE]
  if (signingKey === undefined && (keyEnv !== undefined || message === undefined))
    throw wrongUsage(
      `the variable ${keyEnv ?? DEFAULT_VARIABLE} is not set: it must hold the signing key (--key-env names another one)`,
    )
  const body = message === undefined || isPiped() ? await buffer(process.stdin) : undefined
  const given = { signature, signingKey, computed, body }
  const question =
    message === undefined
      ? { body: body ?? Buffer.alloc(0), key: signingKey ?? '', header: signature, computed }
      : await questionAbout(await connect(config(), options), message, given)
  const analysis = analyse(question)
  if (options.json) {
    printJson({ matches: analysis.matches, sentence: analysis.sentence })
  } else {
    printAnalysis(analysis)
    if (isNothing(given)) print(NOTHING_GIVEN)
  }
  return analysis.matches ? 0 : EXIT.wrong
}

/** True if standard input is a file or a pipe. At a terminal, or without an input, there is no body. */
function isPiped(): boolean {
  const input = fstatSync(0)
  return input.isFIFO() || input.isFile() || input.isSocket()
}

type Given = {
  signature: string | undefined
  signingKey: string | undefined
  computed: string | undefined
  body: Buffer | undefined
}

const NOTHING_GIVEN = `
All of them are Farthing's own. To find a mistake of your receiver, give what it has: its key in SIGNING_KEY,
the body that it read on standard input, or with --computed the signature that it computed.`

const isNothing = ({ signature, signingKey, computed, body }: Given): boolean =>
  [signature, signingKey, computed].every(value => value === undefined) && !body?.length

/** Missing values come from the message. An empty input counts as missing. */
async function questionAbout(service: Service, id: string, given: Given): Promise<Question> {
  const { results } = await service.ask(
    'GET',
    `/control/messages?message_id=${encodeURIComponent(id)}`,
  )
  const [found] = results
  if (!found) throw new CommandError(`there is no message ${id} of this account`)
  if (found.raw === null)
    throw new CommandError(`the body of the message ${id} was deleted with its payment`)
  const webhooks = await webhooksOf(service)
  const webhook = webhooks.find(({ external_id }) => external_id === found.webhook_id)
  const message: SentMessage = {
    message_id: id,
    body: Buffer.from(found.raw),
    signing_key: webhook?.signing_key ?? '',
    webhook: nameOf(webhook),
  }
  const keys = webhooks.map((each): NamedKey => ({ name: nameOf(each), key: each.signing_key }))
  return {
    body: given.body?.length ? given.body : message.body,
    key: given.signingKey ?? message.signing_key,
    header: given.signature ?? found.headers['Pay-Signature'],
    computed: given.computed,
    message,
    keys,
  }
}

/** All webhooks of the account, with their keys. */
async function webhooksOf(service: Service): Promise<Body[]> {
  const { results } = await service.ask('GET', '/v1/webhooks')
  return Promise.all(
    results.map(({ external_id }: Body) => service.ask('GET', `/v1/webhooks/${external_id}`)),
  )
}

function printAnalysis({ matches, sentence, advice, difference }: Analysis): void {
  print(colour(matches ? 'green' : 'red', sentence))
  if (difference)
    for (const [name, { hex, text }] of Object.entries({
      sent: difference.sent,
      given: difference.given,
    }))
      print(`  byte ${difference.offset}, ${name.padEnd(5)}  ${hex}  ${JSON.stringify(text)}`)
  for (const { text, calls = [] } of advice) {
    print(`\n${text}`)
    for (const { framework, call } of calls) print(`  ${framework.padEnd(13)} ${call}`)
  }
}
