import { asTypedHere } from '../core/invocation.ts'

export type Check = {
  name: string
  status: 'ok' | 'warn' | 'fail'
  sentence: string
  /** What to run or to set, if there is something, as it is typed here. */
  command?: string
}

export const ok = (name: string, sentence: string): Check => ({ name, status: 'ok', sentence })
export const warn = (name: string, sentence: string, command?: string): Check => ({
  name,
  status: 'warn',
  sentence: asTypedHere(sentence),
  ...(command !== undefined && { command: asTypedHere(command) }),
})
export const fail = (name: string, sentence: string, command?: string): Check => ({
  ...warn(name, sentence, command),
  status: 'fail',
})
