export type Check = {
  name: string
  status: 'ok' | 'warn' | 'fail'
  sentence: string
  /** A command to run or a setting to change, if that helps. It is a `hint`. */
  command: string | undefined
}

/** Functions that make checks of this name. */
export function checksOf(name: string) {
  const withStatus =
    (status: Check['status']) =>
    (sentence: string, command?: string): Check => ({ name, status, sentence, command })
  return { ok: withStatus('ok'), warn: withStatus('warn'), fail: withStatus('fail') }
}
