import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'

/**
 * Logs go to standard output: JSON lines for machines, short ones for a person at a terminal.
 * Nothing that a client sent is logged: no body, no URL (paths of the pages carry tokens), no key.
 */
export function createLogger(level: string, atTerminal: boolean): Logger & { flushSync(): void } {
  const options = { level, timestamp: isoTime(), serializers: { err: describeError } }
  if (atTerminal) return Object.assign(pino(options, terminal()), { flushSync: () => {} })
  const output = turnByTurn(pino.destination({ dest: 1, sync: false }))
  return Object.assign(pino(options, output), { flushSync: output.flushSync })
}

/**
 * Hands on the lines of one turn of the event loop together: pino's destination goes through all that
 * it still holds for every line it is given.
 */
function turnByTurn(output: ReturnType<typeof pino.destination>) {
  let lines: string[] = []
  function handOn(): void {
    output.write(lines.join(''))
    lines = []
  }
  return {
    write(line: string) {
      if (lines.push(line) === 1) setImmediate(handOn)
    },
    flushSync() {
      handOn()
      output.flushSync()
    },
  }
}

/** The time as pino wants it; printing one anew for every line of a busy millisecond is a third of the work. */
function isoTime(): () => string {
  let printed = 0
  let text = ''
  return () => {
    const now = Date.now()
    if (now !== printed) text = `,"time":"${new Date(now).toISOString()}"`
    printed = now
    return text
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
        line.method && `${line.method} ${line.route ?? '-'} ${line.status} ${line.ms} ms`
      const alarm = line.level >= 50 ? 'ERROR' : line.level >= 40 && 'WARNING'
      const parts = [line.time.slice(11, 19), alarm, line.msg ?? request]
      process.stdout.write(`${parts.filter(Boolean).join('  ')}\n`)
      if (line.err) process.stdout.write(`${line.err.stack ?? line.err.message}\n`)
    },
  }
}
