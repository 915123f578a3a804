import { styleText } from 'node:util'
import { NOBODY_LISTENS } from '../pay/webhooks/listener.ts'

export const printJson = (value: unknown): void =>
  void process.stdout.write(`${JSON.stringify(value)}\n`)

/** A recorded body as text. */
export const printable = (body: unknown): string =>
  typeof body === 'string' ? body : JSON.stringify(body)

export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** A line for the user on standard error, beside the data. A command in it is a `hint`. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`)

/** Colours text for standard output, unless that is not a terminal or NO_COLOR is set. */
export const colour = (format: Parameters<typeof styleText>[0], text: string): string =>
  styleText(format, text, { stream: process.stdout })

const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Untrusted text on one line: shortened, and without control characters, which a terminal could interpret. */
export function oneLine(text: string, length = 120): string {
  const safe = text.replace(UNSAFE, ' ').trim()
  return safe.length > length ? `${safe.slice(0, length - 1)}…` : safe
}

/** An HTTP status, or the reason why there is none. Grey if nobody was listening: that is no failure of a receiver. */
export function colouredStatus(succeeded: boolean, text: string): string {
  if (text === NOBODY_LISTENS) return colour('gray', text)
  return colour(succeeded ? 'green' : 'red', text)
}

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** 09:13:00.119 of an ISO time. */
export const timeOfDay = (time: string): string => time.slice(11, 23)
