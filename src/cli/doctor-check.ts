import { asTypedHere } from '../core/invocation.ts'

export type Check = {
  name: string
  status: 'ok' | 'warn' | 'fail'
  sentence: string
  /** What to run or to set, if there is something. */
  command: string | undefined
}

/** Functions that make checks of this name. Commands in the texts are written as they are typed here. */
export function checksOf(name: string) {
  const withStatus =
    (status: Check['status']) =>
    (sentence: string, command?: string): Check => ({
      name,
      status,
      sentence: asTypedHere(sentence),
      command: command && asTypedHere(command),
    })
  return { ok: withStatus('ok'), warn: withStatus('warn'), fail: withStatus('fail') }
}
