/** Reads the writes of a process to files and sockets from the output of strace. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

export type DiskEvent =
  | { kind: 'write'; file: string; offset: number; data: Buffer }
  | { kind: 'sync'; file: string }
  | { kind: 'truncate'; file: string; length: number }
  | { kind: 'unlink'; file: string }
  /** Data sent on a socket or a pipe: acknowledged from here on. */
  | { kind: 'told'; text: string }

/**
 * Runs a program and writes its calls to a file. `-D` leaves the program its pid; `-xx` prints names and
 * data in hexadecimal, so that parsing is unambiguous.
 */
export const traceInto = (file: string): string[] => [
  ...'strace -D -f -qq -y -xx -s 10000000 --seccomp-bpf -e signal=none -e'.split(' '),
  'trace=pwrite64,pwritev,fsync,fdatasync,ftruncate,unlink,unlinkat,write,writev',
  '-o',
  file,
]

/**
 * Makes calls fail or kill the program with strace's `inject`, as in `fsync:error=EIO:when=3`. Without
 * `--seccomp-bpf`, because strace 6.1 then injects no signals, and the calls of a detached process fail.
 */
export const injecting = (...faults: string[]): string[] => [
  ...'strace -D -I 1 -f -qq -o /dev/null -e'.split(' '),
  `trace=${faults.map(fault => fault.split(':', 1)[0]).join()}`,
  ...faults.flatMap(fault => ['-e', `inject=${fault}`]),
]

/** The events of a trace, in the order in which the calls returned. */
export async function* readTrace(path: string): AsyncGenerator<DiskEvent> {
  const unfinished = new Map<string, string>()
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const thread = line.slice(0, line.indexOf(' '))
    if (line.endsWith('<unfinished ...>')) {
      unfinished.set(thread, line.slice(0, -'<unfinished ...>'.length).trimEnd())
      continue
    }
    const resumed = /^\d+ +<\.\.\. \w+ resumed>(.*)$/.exec(line)
    const event = toEvent(resumed ? `${unfinished.get(thread)}${resumed[1]}` : line)
    if (event) yield event
  }
}

const CALL = /^\d+ +(\w+)\((.*)\) += (-?\d+)/
const DESCRIPTOR = /^\d+<([^>]*)>/
const STRING = /"((?:\\x[0-9a-f]{2})*)"/g

function toEvent(line: string): DiskEvent | undefined {
  const [, call = '', args = '', result] = CALL.exec(line) ?? []
  if (!call || Number(result) < 0) return undefined
  const strings = [...args.matchAll(STRING)].map(match => fromHex(match[1] ?? ''))
  if (call === 'unlink' || call === 'unlinkat')
    return { kind: 'unlink', file: strings.at(-1)?.toString() ?? '' }
  const file = fromHex(DESCRIPTOR.exec(args)?.[1] ?? '').toString()
  if (call === 'fsync' || call === 'fdatasync') return { kind: 'sync', file }
  const last = Number(args.slice(args.lastIndexOf(',') + 1))
  if (call === 'ftruncate') return { kind: 'truncate', file, length: last }
  const data = Buffer.concat(strings).subarray(0, Number(result))
  if (call.startsWith('pwrite')) return { kind: 'write', file, offset: last, data }
  return file.startsWith('/') ? undefined : { kind: 'told', text: data.toString() }
}

const fromHex = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex')
