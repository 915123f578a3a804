import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { iso } from './time.ts'

/** `written` resolves once all lines are written, or after 500 ms, because the reader of a pipe may have stopped. */
export type EndingLogger = Logger & { written(): Promise<void> }

/**
 * Creates the logger, which writes JSON lines to standard output, or short lines for a person at a terminal.
 * Nothing that a client sent is logged: no body, no key, and no URL, because paths of the pages contain tokens.
 */
export function createLogger(level: string, atTerminal: boolean): EndingLogger {
  const options = {
    level,
    timestamp: () => `,"time":"${iso(Date.now())}"`,
    serializers: { err: describeError },
  }
  if (atTerminal) return Object.assign(pino(options, terminal()), { written: async () => {} })
  const output = buffered(standardOutput())
  return Object.assign(pino(options, output), { written: output.written })
}

/** Bytes kept while the reader of a pipe does not read. Further lines are dropped. */
const MOST_UNREAD = 8 * 1024 * 1024

/** The service must not end when its output cannot be written: the disk may be full or the pipe closed. */
function standardOutput() {
  const output = pino.destination({ dest: 1, sync: false, minLength: 1, maxLength: MOST_UNREAD })
  output.on('error', () => {})
  // pino calls flushSync at exit, where it would retry for ever.
  return Object.assign(output, { flushSync() {} })
}

/** Lines are written together after this many milliseconds, or when they fill this many bytes. */
const LONGEST_WAIT = 20
const BUFFER_SIZE = 65_536
/** The most bytes of UTF-8 per UTF-16 code unit. */
const BYTES_PER_UNIT = 3
/** Milliseconds to write the last lines. */
const LONGEST_END = 500

/**
 * Writes lines in batches, because pino's destination walks its whole backlog for each line that it gets.
 * V8: the lines wait as bytes in one buffer. As strings they would be copied by young-generation garbage collection.
 */
function buffered(output: ReturnType<typeof pino.destination>) {
  const buffer = Buffer.alloc(BUFFER_SIZE)
  let used = 0
  let waiting: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(waiting)
    waiting = undefined
    output.write(buffer.toString('utf8', 0, used))
    used = 0
  }

  return {
    write(line: string): void {
      const most = line.length * BYTES_PER_UNIT
      if (used + most > BUFFER_SIZE) flush()
      if (most > BUFFER_SIZE) return void output.write(line)
      used += buffer.write(line, used)
      waiting ??= setTimeout(flush, LONGEST_WAIT)
    },
    written(): Promise<void> {
      flush()
      return new Promise(resolve => {
        output.flush(() => resolve())
        setTimeout(resolve, LONGEST_END)
      })
    },
  }
}

/** Logs no other properties of an error: those of a database error contain the row, and so what a client sent. */
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
  code?: string
  field?: string
  header?: string
  err?: { message: string; stack?: string }
}

function requestLine({ method, route, status, ms, code, field, header }: Line): string {
  const path = route ?? '(no such endpoint)'
  return [method, path, status, `${ms} ms`, code, field ?? header].filter(Boolean).join(' ')
}

function terminal(): DestinationStream {
  return {
    write(text) {
      const line = JSON.parse(text) as Line // pino wrote it
      const request = line.method && requestLine(line)
      const alarm = line.level >= 50 ? 'ERROR' : line.level >= 40 && 'WARNING'
      const parts = [new Date(line.time).toTimeString().slice(0, 8), alarm, line.msg ?? request]
      process.stdout.write(`${parts.filter(Boolean).join('  ')}\n`)
      if (line.err) process.stdout.write(`${line.err.stack ?? line.err.message}\n`)
    },
  }
}
