import { type Command, Help, InvalidArgumentError } from 'commander'
import { parseAddress } from '../app/settings.ts'
import { DEFAULT_ACCOUNT } from '../core/account.ts'
import type { Config } from '../core/config.ts'
import { type Scenario, scenarios } from '../pay/payments/payment.ts'
import { damages, MOST_TIMES } from '../pay/webhooks/send-again.ts'
import { eventTypes, eventTypesIn } from '../pay/webhooks/webhook.ts'
import { offering, oneOf } from './completion.ts'
import { asTypedHere } from './invocation.ts'
import { triggered } from './payment-plan.ts'
import type { Env } from './verify.ts'

/** The commands that speak to a running service. `end` receives the exit code of a command. */
export type Shell = {
  config: () => Config
  env: Env
  end: (exitCode: number) => void
}

const NEEDS = 'Needs FARTHING_URL (default: http://127.0.0.1:3000) and FARTHING_API_KEY.'
const OPEN_NEEDS = `Needs FARTHING_URL (default: http://127.0.0.1:3000). Without FARTHING_API_KEY it
signs in with a key of the account in the database that DATABASE_URL names.`
const JSON_OPTION = ['--json', 'print JSON'] as const

/**
 * A command with its examples before its options. They are not part of its description: a shell that completes the
 * commands takes each line of that as another candidate, and bash runs the commands in it.
 */
export function command(
  program: Command,
  name: string,
  { summary, more = '', examples }: { summary: string; more?: string; examples: string },
): Command {
  const lines = examples
    .trim()
    .split('\n')
    .map(line => `  ${asTypedHere(line.trim())}`)
    .join('\n')
  const described = program.command(name)
  return explained(described, summary, `${asTypedHere(more)}\n\n${lines}`)
}

/** The list of commands has the summary, and the command's own help has it as a sentence, with `more`. */
export function explained(described: Command, summary: string, more = ''): Command {
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.${more}`
  const names = [described.name()]
  for (let { parent } = described; parent; { parent } = parent) names.unshift(parent.name())
  return described
    .description(summary)
    .configureHelp({ commandDescription: () => sentence, commandUsage: usageHere })
    .showHelpAfterError(moreHelp(names.join(' ')))
}

/** The line *Usage* of a help. */
export const usageHere = (described: Command): string =>
  asTypedHere(new Help().commandUsage(described))

/** After a message about wrong usage. `name` is that of the command, with `farthing`. */
export const moreHelp = (name: string): string =>
  asTypedHere(`(${name} --help explains the command)`)

const toService = (described: Command, needs = NEEDS): Command =>
  described
    .option('--url <url>', 'the service (default: FARTHING_URL)', parseUrl)
    .option(
      '--key <key>',
      'the API key; - reads it from standard input (default: FARTHING_API_KEY)',
    )
    .option(...JSON_OPTION)
    .addHelpText('after', `\n${needs}\n`)

export function addServiceCommands(program: Command, shell: Shell): void {
  addPay(program, shell)
  addTrigger(program, shell)
  addListen(program, shell)
  addLogs(program, shell)
  addResend(program, shell)
  addVerify(program, shell)
  addOpen(program, shell)
  addDoctor(program, shell)
}

function addPay(program: Command, { config, end }: Shell): void {
  toService(
    command(program, 'pay', {
      summary: 'make a payment and take it to its end',
      examples: `farthing pay
      farthing pay declined --reference R-7
      farthing pay --set metadata.team=ledger --json | jq .payment.state`,
    })
      .argument('[outcome]', scenarios.join(', '), oneOf(scenarios), 'success')
      .option('--amount <pence>', 'the amount, 0 to 10000000 (default: 1450)', parseAmount)
      .option('--reference <text>', 'the reference (default: CLI- and six letters)')
      .option('--set <name=value>', 'a field of the payment, also metadata.KEY', collectField)
      .option('--delayed-capture', 'leave it capturable')
      .option('--capture', 'capture it afterwards; implies --delayed-capture')
      .option('--refund [pence]', 'refund it afterwards, all by default', parseRefund)
      .option('--moto', 'a moto_api payment, paid by card')
      .option('--agreement <id>', 'a payment with this agreement'),
  ).action(async (outcome: Scenario, options) =>
    end(await (await import('./pay.ts')).pay(config(), outcome, options)),
  )
}

function addTrigger(program: Command, { config, end }: Shell): void {
  toService(
    command(program, 'trigger', {
      summary: 'make the shortest payment that sends an event type',
      examples: `farthing trigger card_payment_refunded
      farthing trigger card_payment_failed --json | jq .messages`,
    }).argument('<event-type>', triggered.join(', '), oneOf(triggered)),
  ).action(async (eventType, options) =>
    end(await (await import('./pay.ts')).trigger(config(), eventType, options)),
  )
}

function addListen(program: Command, { config }: Shell): void {
  toService(
    command(program, 'listen', {
      summary: 'receive webhooks here, wherever Farthing runs',
      more: ' The bytes and the signature are those of the real delivery.',
      examples: `farthing listen --forward-to http://localhost:4000/webhooks
      SIGNING_KEY=$(farthing listen --print-signing-key) npm start
      farthing listen --json | jq -r .event_type`,
    })
      .option('--forward-to <url>', 'where to send each message; without it they are printed')
      .option('--events <a,b>', 'only these event types (default: all)', parseEvents)
      .option(
        '--name <name>',
        'the name of the listener, which keeps its signing key (default: USER-MACHINE)',
      )
      .option('--header <header>', "another header to send, as 'Name: value'", collectHeader)
      .option('--insecure', 'accept any certificate of the receiver')
      .option('--missed', 'begin with messages of the last day that nobody received')
      .option('--bodies', 'show each message and the response of the receiver')
      .option('--print-signing-key', 'print the signing key and end')
      .option('--forget', 'delete the webhook of a listener that has stopped'),
  ).action(async options => (await import('./listen.ts')).listen(config(), options))
}

function addLogs(program: Command, { config }: Shell): void {
  toService(
    command(program, 'logs', {
      summary: 'show the requests of your service and its users',
      examples: `farthing logs --refused
      farthing logs --follow --bodies
      farthing logs --since 10m --json | jq -r .path`,
    })
      .option('--follow', 'go on until Ctrl-C')
      .option('--refused', 'only those that were refused')
      .option('--payment <id>', 'only those of a payment')
      .option('--operation <name>', 'only this operation, such as createPayment')
      .option('--bodies', 'show the bodies of requests and responses')
      .option(
        '--since <time>',
        'such as 30s, 10m, 2h (default: the newest 100 requests)',
        parseAge,
      ),
  ).action(async options => (await import('./logs.ts')).logs(config(), options))
}

function addResend(program: Command, { config, end }: Shell): void {
  toService(
    command(program, 'resend', {
      summary: 'send a webhook message again',
      more: ' It does not count as one of its attempts, and no payment changes.',
      examples: `farthing resend 06h3k9v0u2j4m5n6p7q8r9s0t1
      farthing resend 06h3k9v0u2j4m5n6p7q8r9s0t1 --damage digit`,
    })
      .argument('<message-id>', 'webhook_message_id in its body')
      .option(
        '--times <number>',
        `how many times, one after the other: 1 to ${MOST_TIMES} (default: 1)`,
        numberFrom(1, MOST_TIMES),
      )
      .option(
        '--damage <kind>',
        `with a signature that does not match: ${damages.join(', ')}`,
        oneOf(damages),
      )
      .option('--signing-key <key>', 'signed with another key, which the receiver must refuse')
      .option('--body <file>', 'another body, signed anew; - reads it from standard input')
      .option('--to <url>', 'another address; the rules for callback_url apply'),
  ).action(async (id, options) =>
    end(await (await import('./resend.ts')).resend(config(), id, options)),
  )
}

function addVerify(program: Command, { config, env, end }: Shell): void {
  toService(
    command(program, 'verify', {
      summary: 'say why the signature of a webhook message does not match',
      examples: `SIGNING_KEY=webhook_test_... farthing verify --signature 5f8c... < body.json
      farthing verify --message 06h3k9v0u2j4m5n6p7q8r9s0t1 --computed 5f8c...
      farthing verify --message 06h3k9v0u2j4m5n6p7q8r9s0t1 < body.json`,
    })
      .option('--signature <header>', 'the header Pay-Signature')
      .option('--key-env <name>', 'the variable that holds the signing key (default: SIGNING_KEY)')
      .option('--computed <text>', 'what your code computed instead')
      .option('--message <id>', 'compare with this message of the service instead'),
    'Only --message needs a running service, FARTHING_URL and FARTHING_API_KEY.',
  ).action(async options => end(await (await import('./verify.ts')).verify(config, env, options)))
}

function addOpen(program: Command, { config, env }: Shell): void {
  toService(
    command(program, 'open', {
      summary: 'open the console, signed in',
      more: ' It prints the link where there is no desktop. The link works for a minute.',
      examples: `farthing open
      farthing open docs
      farthing open 06h3k9v0u2j4m5n6p7q8r9s0t1`,
    })
      .argument('[page]', 'payments, docs, or the identifier of a payment', parsePage, 'payments')
      .option('--account <name>', 'without a key: the account in the database', DEFAULT_ACCOUNT),
    OPEN_NEEDS,
  ).action(async (page, options) => (await import('./open.ts')).open(config(), env, page, options))
}

function addDoctor(program: Command, { env, end }: Shell): void {
  toService(
    command(program, 'doctor', {
      summary: 'look for mistakes in your set-up',
      more: ' It makes one payment of 1p with the reference doctor, and changes nothing else.',
      examples: `farthing doctor
      farthing doctor --json | jq '.checks[] | select(.status != "ok")'`,
    }),
  ).action(async options => end(await (await import('./doctor.ts')).doctor(env, options)))
}

const parsePage = offering(['payments', 'docs'], text => {
  if (/^(payments|docs|[0-9a-v]{26})$/.test(text)) return text
  throw new InvalidArgumentError('It must be payments, docs, or the identifier of a payment.')
})

function parseUrl(text: string): string {
  const url = parseAddress(text)
  if (typeof url === 'string') return url
  throw new InvalidArgumentError(`It ${url?.message.trim() ?? 'must be an http or https address'}.`)
}

/** `unit` has a colon at its end. */
export const numberFrom =
  (least: number, most: number, unit = '') =>
  (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be ${unit}a number from ${least} to ${most}.`)
  }

const MOST_PENCE = 10_000_000
const parseAmount = numberFrom(0, MOST_PENCE, 'pence: ')
const parseRefundPence = numberFrom(1, MOST_PENCE, 'pence: ')

/** Empty for all of it: see `withEmptyRefund`. */
const parseRefund = (text: string): number | true => text === '' || parseRefundPence(text)

/** --refund takes a value only if that is digits, so that an outcome may follow it. */
export const withEmptyRefund = (args: string[]): string[] =>
  args.map((arg, i) => (arg === '--refund' && !/^\d+$/.test(args[i + 1] ?? '') ? '--refund=' : arg))

const parseEvents = offering(eventTypes, text => {
  const types = text.split(',').map(type => type.trim())
  if (eventTypesIn(types)) return types
  throw new InvalidArgumentError(`It must be some of ${eventTypes.join(', ')}.`)
})

function collectHeader(text: string, headers: [string, string][] = []): [string, string][] {
  const [, name = '', value = ''] = /^([\w-]+):\s*(.*)$/.exec(text) ?? []
  if (name) return [...headers, [name, value]]
  throw new InvalidArgumentError("It must be 'Name: value'.")
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds. */
function parseAge(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = UNITS[unit]
  if (ms !== undefined) return Number(count) * ms
  throw new InvalidArgumentError('It must be a number with s, m, h or d, such as 10m.')
}

/** The first = separates name and value. In metadata, digits, true and false become numbers and booleans. */
function collectField(text: string, fields: [string, unknown][] = []): [string, unknown][] {
  const [, name = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === '') throw new InvalidArgumentError('It must be NAME=VALUE.')
  const isJson = name.startsWith('metadata.') && /^(\d{1,15}|true|false)$/.test(value)
  return [...fields, [name, isJson ? JSON.parse(value) : value]]
}
