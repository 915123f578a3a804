export type Check = {
  name: string
  status: 'ok' | 'warn' | 'fail'
  sentence: string
  /** What to run or to set, if there is something: a `hint`. */
  command: string | undefined
}

/** Functions that make checks of this name. */
export function checksOf(name: string) {
  const withStatus =
    (status: Check['status']) =>
    (sentence: string, command?: string): Check => ({
      name,
      status,
      sentence,
      command,
    })
  return { ok: withStatus('ok'), warn: withStatus('warn'), fail: withStatus('fail') }
}
