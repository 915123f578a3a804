import { pino, stdSerializers } from 'pino'
import { UNREAD_LOG_BYTES } from './budgets.ts'
import { iso } from './time.ts'

/**
 * Writes lines of JSON, or short ones at a terminal. They hold nothing that a client sent: no body, key or URL, whose
 * path may have a token. `written` resolves once all are written, or after 500 ms: a pipe's reader may have stopped.
 */
export function createLogger(level: string, atTerminal: boolean) {
  const options = {
    level,
    timestamp: () => `,"time":"${iso(Date.now())}"`,
    serializers: { err: describeError },
  }
  const output = atTerminal ? terminal : standardOutput()
  return Object.assign(pino(options, output), { written: output.written })
}

/** Milliseconds to write the last lines. */
const LONGEST_END = 500

/** The service must not end when its output cannot be written: the disk may be full or the pipe closed. */
function standardOutput() {
  const output = pino.destination({
    dest: 1,
    sync: false,
    minLength: 1,
    maxLength: UNREAD_LOG_BYTES,
  })
  output.on('error', () => {})
  // pino calls flushSync at exit, where it would retry for ever.
  output.flushSync = () => {}
  const written = () =>
    new Promise<void>(resolve => {
      output.flush(() => resolve())
      setTimeout(resolve, LONGEST_END)
    })
  return Object.assign(output, { written })
}

/** Logs no other properties of an error: a database error has the row in them, and so data that a client sent. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { type, message, stack, code } = stdSerializers.err(error)
  return { type, message, code, stack }
}

type Line = {
  level: number
  time: string
  err?: { message: string; stack?: string }
} & {
  [name in 'msg' | 'method' | 'route' | 'status' | 'ms' | 'code' | 'field' | 'header']?: string
}

function requestLine({ method, route, status, ms, code, field, header }: Line): string {
  const path = route ?? '(no such endpoint)'
  return [method, path, status, `${ms} ms`, code, field ?? header].filter(Boolean).join(' ')
}

const terminal = {
  write(text: string) {
    const line = JSON.parse(text) as Line // pino wrote it
    const request = line.method && requestLine(line)
    const alarm = line.level >= 50 ? 'ERROR' : line.level >= 40 && 'WARNING'
    const parts = [new Date(line.time).toISOString().slice(11, 19), alarm, line.msg ?? request]
    process.stdout.write(`${parts.filter(Boolean).join('  ')}\n`)
    if (line.err) process.stdout.write(`${line.err.stack ?? line.err.message}\n`)
  },
  written: async () => {},
}
