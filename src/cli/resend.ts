import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { integer } from '../core/values.ts'
import { damages, MOST_TIMES } from '../tools/deliver/send-again.ts'
import { isSignatureRefusal } from '../tools/explain/wrong-signature.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { defineCommand } from './define-command.ts'
import { colouredStatus, oneLine, print, printable, printJson } from './output.ts'
import { option } from './parse.ts'
import { type Body, connect, serviceOptions } from './running-service.ts'

const options = {
  times: {
    value: '<number>',
    meaning: `how many times, one after the other: 1 to ${MOST_TIMES} (default: 1)`,
    parse: option(integer(1, MOST_TIMES)),
  },
  damage: {
    value: '<kind>',
    meaning: `with a signature that does not match: ${damages.join(', ')}`,
    values: damages,
  },
  signingKey: {
    value: '<key>',
    meaning: 'signed with another key, which the receiver must refuse',
  },
  body: { value: '<file>', meaning: 'another body, signed anew; - reads it from standard input' },
  ...serviceOptions,
} as const

export const resend = defineCommand({
  summary: 'send a webhook message again',
  more: 'It does not count as one of its attempts, and no payment changes.',
  examples: [
    'farthing resend 06h3k9v0u2j4m5n6p7q8r9s0t1',
    'farthing resend 06h3k9v0u2j4m5n6p7q8r9s0t1 --damage digit',
  ],
  argument: { value: '<message-id>', meaning: 'webhook_message_id in its body' },
  options,
  exitCodes: {
    [EXIT.failed]: 'the receiver did not accept it, or accepted a wrong signature',
    [EXIT.wrong]: 'the receiver refuses the undamaged message too, so a damaged one says nothing',
  },
  async run({ config, argument: message_id, options }) {
    const { times, damage, signingKey: signing_key } = options
    if (options.body === '-' && options.key === '-')
      throw wrongUsage('standard input cannot be both the body and the key')
    const service = await connect(config(), options)
    const body = options.body === undefined ? undefined : await readBody(options.body)
    const json = { times, damage, signing_key, body }
    const path = `/control/messages/${encodeURIComponent(message_id)}/send`
    const sent = await service.ask('POST', path, { json })
    if (options.json) printJson(sent)
    else sent.results.forEach(show)
    const results: Body[] = sent.results
    const isRight = ({ verdict, status }: Body) =>
      verdict ? verdict === 'refused' : damage === undefined && status === 'SUCCESSFUL'
    if (results.every(isRight)) return 0
    const saysNothing = ({ verdict, status_code }: Body) =>
      !verdict && isSignatureRefusal(status_code)
    return damage !== undefined && results.every(saysNothing) ? EXIT.wrong : EXIT.failed
  },
})

async function readBody(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

const LONGEST_SENTENCE = 1_000

function show({ status, result, response_time, verdict, sentence, answer }: Body): void {
  const isRight = verdict ? verdict === 'refused' : status === 'SUCCESSFUL'
  const said = status === 'SUCCESSFUL' ? '' : oneLine(printable(answer?.body ?? ''))
  print(`${colouredStatus(isRight, oneLine(result))}  ${response_time ?? 0} ms  ${said}`.trimEnd())
  if (sentence) print(oneLine(sentence, LONGEST_SENTENCE))
}
