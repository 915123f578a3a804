import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Config } from '../core/config.ts'
import { CommandError, EXIT, wrongUsage } from './command-error.ts'
import { colouredStatus, oneLine, print, printJson } from './output.ts'
import { type Body, connect, type ServiceOptions } from './running-service.ts'

type ResendOptions = ServiceOptions & {
  times?: number
  damage?: string
  signingKey?: string
  body?: string
  to?: string
  json?: boolean
}

/** `farthing resend`: exit code 1 unless every delivery succeeded. */
export async function resend(
  config: Config,
  message_id: string,
  options: ResendOptions,
): Promise<number> {
  const { times, damage, signingKey: signing_key, to } = options
  if (options.body === '-' && options.key === '-')
    throw wrongUsage('standard input cannot be both the body and the key')
  const service = await connect(config, options)
  const body = options.body === undefined ? undefined : await readBody(options.body)
  const json = { times, damage, signing_key, to, body }
  const path = `/control/messages/${encodeURIComponent(message_id)}/send`
  const sent = await service.ask('POST', path, { json })
  if (options.json) printJson(sent)
  else for (const result of sent.results) show(result)
  const taken = sent.results.every(({ status }: Body) => status === 'SUCCESSFUL')
  return taken ? 0 : EXIT.failed
}

async function readBody(file: string): Promise<string> {
  if (file === '-') return text(process.stdin)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function show({ status, result, response_time, answer }: Body): void {
  const delivered = status === 'SUCCESSFUL'
  const said = delivered ? '' : answered(answer)
  print(
    `${colouredStatus(delivered, oneLine(result))}  ${response_time ?? 0} ms  ${said}`.trimEnd(),
  )
}

/** The receiver's response on one line. */
export function answered(answer: Body): string {
  const body = answer?.body ?? ''
  return oneLine(typeof body === 'string' ? body : JSON.stringify(body))
}
