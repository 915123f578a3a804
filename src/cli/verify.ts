import { fstatSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import type { Config } from '../core/config.ts'
import { asTypedHere } from '../core/invocation.ts'
import { webhookName } from '../pay/webhooks/webhook.ts'
import { analyse } from '../tools/explain/signature/analyse.ts'
import { bodyProblem } from '../tools/explain/signature/bodies.ts'
import { keyProblem } from '../tools/explain/signature/keys.ts'
import type { Analysis, Input, NamedKey, SentMessage } from '../tools/explain/signature/question.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { defineCommand, type OptionsOf } from './define-command.ts'
import { colour, oneLine, print, printJson } from './output.ts'
import { type Body, connect, type Service, serviceOptions } from './running-service.ts'

const DEFAULT_VARIABLE = 'SIGNING_KEY'

const options = {
  signature: { value: '<header>', meaning: 'the header Pay-Signature' },
  keyEnv: {
    value: '<name>',
    meaning: `the variable that holds the signing key (default: ${DEFAULT_VARIABLE})`,
  },
  computed: { value: '<text>', meaning: 'what your code computed instead' },
  message: { value: '<id>', meaning: 'compare with this message of the service instead' },
  ask: { value: '<id>', meaning: 'ask the receiver of this message, with at most 45 copies' },
  ...serviceOptions,
  key: {
    ...serviceOptions.key,
    meaning: 'the API key; with --ask, - reads it from standard input (default: FARTHING_API_KEY)',
  },
} as const
type VerifyOptions = OptionsOf<typeof options>

export const verify = defineCommand({
  summary: 'say why the signature of a webhook message does not match',
  examples: [
    'SIGNING_KEY=webhook_test_... farthing verify --signature 5f8c... < body.json',
    'farthing verify --message 06h3k9v0u2j4m5n6p7q8r9s0t1 --computed 5f8c...',
    'farthing verify --message 06h3k9v0u2j4m5n6p7q8r9s0t1 < body.json',
    'farthing verify --ask 06h3k9v0u2j4m5n6p7q8r9s0t1',
  ],
  options,
  exitCodes: { [EXIT.wrong]: 'the signature does not match, or the receiver makes a mistake' },
  after:
    'Only --message and --ask need a running service, with FARTHING_URL and\nFARTHING_API_KEY.',
  async run({ config, env, options }) {
    const { message, signature, keyEnv = DEFAULT_VARIABLE, key, computed, ask } = options
    if (ask !== undefined) return askReceiver(config(), ask, options)
    if (message === undefined && signature === undefined)
      throw wrongUsage(
        'give the header Pay-Signature with --signature, a message with --message, or a message that its receiver refuses with --ask',
      )
    if (key === '-') throw wrongUsage('--key - is not possible here: standard input is the body')
    // Not trimmed: a newline at its end is one of the mistakes to find.
    const signingKey = env[keyEnv]
    if (signingKey === undefined && (options.keyEnv !== undefined || message === undefined))
      throw wrongUsage(
        `the variable ${keyEnv} is not set: it must hold the signing key (--key-env names another one)`,
      )
    // A receiver may use the API key by mistake.
    const apiKeys = [key ?? env.FARTHING_API_KEY ?? ''].filter(apiKey => apiKey !== '')
    const input = { header: signature, computed, apiKeys }
    const body = message === undefined ? await buffer(process.stdin) : await pipedInput()
    const problem = bodyProblem(body) ?? keyProblem(signingKey ?? '')
    if (problem) throw wrongUsage(problem)
    const analysis = await (message === undefined
      ? analyse({ ...input, body: body ?? Buffer.alloc(0), key: signingKey ?? '' })
      : compareWith(message, { ...input, key: signingKey, body }, () => connect(config(), options)))
    const matches = analysis.verdict !== 'mismatch'
    if (options.json) printJson({ matches, sentence: analysis.sentence })
    else printAnalysis(analysis, matches)
    return matches ? 0 : EXIT.wrong
  },
})

/** `farthing verify --ask`: exit code 3 unless the receiver accepts the message and refuses a wrong signature. */
async function askReceiver(config: Config, id: string, options: VerifyOptions) {
  const { message, signature, keyEnv, computed } = options
  if ([message, signature, keyEnv, computed].some(value => value !== undefined))
    throw wrongUsage(
      '--ask takes nothing else: the receiver is asked, and what it answers is compared',
    )
  const service = await connect(config, options)
  const result = await service.ask('POST', `/control/messages/${encodeURIComponent(id)}/ask`)
  const accepts = result.cause === 'accepts'
  if (options.json) printJson(result)
  else {
    print(colour(accepts ? 'green' : 'red', line(result.sentence)))
    print(`\n${asTypedHere(result.advice).split('\n').map(line).join('\n  ')}`)
    print(`\n${result.posts} ${result.posts === 1 ? 'copy' : 'copies'} sent. What shows it:`)
    for (const exchange of result.evidence) print(`  ${service.url}/console/requests/${exchange}`)
  }
  return accepts ? 0 : EXIT.wrong
}

const LONGEST_SENTENCE = 1_000

const line = (text: string): string => oneLine(text, LONGEST_SENTENCE)

const NOTHING_GIVEN =
  'give what your receiver has, to compare it with the message: the signature that its code computed with --computed, the header that it got with --signature, its key in SIGNING_KEY, or the body that it read on standard input'

/** At a terminal, or without an input, there is no body. Throws for an empty file. */
async function pipedInput(): Promise<Buffer | undefined> {
  const input = fstatSync(0)
  if (input.isFile() && input.size === 0)
    throw new CommandError(
      'the body given is empty: something read it before your code',
      EXIT.wrong,
    )
  const isPiped = input.isFIFO() || input.isFile() || input.isSocket()
  return isPiped ? buffer(process.stdin) : undefined
}

/** The number of webhooks whose signing keys are tried. */
const MOST_KEYS = 20

async function compareWith(
  id: string,
  { body, ...rest }: Input,
  connected: () => Promise<Service>,
): Promise<Analysis> {
  const isNothing = [rest.header, rest.computed, rest.key].every(value => value === undefined)
  if (isNothing && !body?.length) throw wrongUsage(NOTHING_GIVEN)
  const service = await connected()
  const path = `/control/messages?message_id=${encodeURIComponent(id)}`
  const [found] = (await service.ask('GET', path)).results
  if (!found) throw new CommandError(`there is no message ${id} of this account`)
  if (found.raw === null)
    throw new CommandError(`the body of the message ${id} was deleted with its payment`)
  const webhook = await service.askWebhooks('GET', `/${found.webhook_id}`)
  const message: SentMessage = {
    message_id: id,
    body: Buffer.from(found.raw),
    signing_key: webhook.signing_key,
    webhook: webhookName(webhook),
  }
  const { results } = await service.askWebhooks('GET', `?display_size=${MOST_KEYS}`)
  const keys: NamedKey[] = await Promise.all(
    results.map(async ({ external_id }: Body) => {
      const other = await service.askWebhooks('GET', `/${external_id}`)
      return { name: webhookName(other), key: other.signing_key }
    }),
  )
  return analyse({ ...rest, body: body?.length ? body : undefined, message, keys })
}

function printAnalysis({ sentence, advice, difference }: Analysis, matches: boolean): void {
  print(colour(matches ? 'green' : 'red', line(sentence)))
  if (difference)
    for (const name of ['sent', 'given'] as const) {
      const { hex, text } = difference[name]
      print(
        `  byte ${difference.offset}, ${name.padEnd(5)}  ${hex}  ${oneLine(JSON.stringify(text))}`,
      )
    }
  for (const { text, calls = [] } of advice) {
    print(`\n${line(asTypedHere(text))}`)
    for (const { framework, call } of calls) print(`  ${framework.padEnd(13)} ${call}`)
  }
}
