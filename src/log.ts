import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { iso } from './time.ts'

/** `written` resolves when all lines are handed to the system, or after half a second: who reads them may have stopped. */
export type EndingLogger = Logger & { written(): Promise<void> }

/**
 * Logs go to standard output: JSON lines for machines, short ones for a person at a terminal.
 * Nothing that a client sent is logged: no body, no URL (paths of the pages carry tokens), no key.
 */
export function createLogger(level: string, atTerminal: boolean): EndingLogger {
  const options = {
    level,
    timestamp: () => `,"time":"${iso(Date.now())}"`,
    serializers: { err: describeError },
  }
  if (atTerminal) return Object.assign(pino(options, terminal()), { written: async () => {} })
  const output = together(standardOutput())
  return Object.assign(pino(options, output), { written: output.written })
}

/** Bytes that are held for a reader who does not read; what comes then is lost. */
const MOST_UNREAD = 8 * 1024 * 1024

/** That it cannot be written to, for want of room or of a reader, must not be the end of the service. */
function standardOutput() {
  const output = pino.destination({ dest: 1, sync: false, minLength: 1, maxLength: MOST_UNREAD })
  output.on('error', () => {})
  // pino calls it when the process ends, and it would try for ever.
  return Object.assign(output, { flushSync() {} })
}

/** Milliseconds that a line may wait for others, and the bytes that they may have together. */
const LONGEST_WAIT = 20
const MOST_HELD = 65_536
const BYTES_OF_A_CHARACTER = 3
/** For the last lines, in milliseconds. */
const LONGEST_END = 500

/**
 * Hands lines on many at a time, as bytes: pino's destination goes through all that it still holds for
 * every line it is given, and lines that waited as texts would keep the garbage collector busy.
 */
function together(output: ReturnType<typeof pino.destination>) {
  const held = Buffer.alloc(MOST_HELD)
  let used = 0
  let waiting: NodeJS.Timeout | undefined

  function handOn(): void {
    clearTimeout(waiting)
    waiting = undefined
    output.write(held.toString('utf8', 0, used))
    used = 0
  }

  return {
    write(line: string): void {
      const most = line.length * BYTES_OF_A_CHARACTER
      if (used + most > MOST_HELD) handOn()
      if (most > MOST_HELD) return void output.write(line)
      used += held.write(line, used)
      waiting ??= setTimeout(handOn, LONGEST_WAIT)
    },
    written(): Promise<void> {
      handOn()
      return new Promise(resolve => {
        output.flush(() => resolve())
        setTimeout(resolve, LONGEST_END)
      })
    },
  }
}

/** Of an error its text alone: those of a database also carry the row at fault, with what a client sent. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { type, message, stack, code } = stdSerializers.err(error)
  return { type, message, code, stack }
}

type Line = {
  level: number
  time: string
  msg?: string
  method?: string
  route?: string | null
  status?: number
  ms?: number
  err?: { message: string; stack?: string }
}

function terminal(): DestinationStream {
  return {
    write(text) {
      const line = JSON.parse(text) as Line // pino wrote it
      const request =
        line.method &&
        `${line.method} ${line.route ?? '(no such endpoint)'} ${line.status} ${line.ms} ms`
      const alarm = line.level >= 50 ? 'ERROR' : line.level >= 40 && 'WARNING'
      const parts = [new Date(line.time).toTimeString().slice(0, 8), alarm, line.msg ?? request]
      process.stdout.write(`${parts.filter(Boolean).join('  ')}\n`)
      if (line.err) process.stdout.write(`${line.err.stack ?? line.err.message}\n`)
    },
  }
}
