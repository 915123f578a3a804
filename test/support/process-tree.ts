/** Processes and their descendants, as Linux lists them. */
import { readdirSync, readFileSync } from 'node:fs'

const tryTo = <Result>(read: () => Result): Result | undefined => {
  try {
    return read()
  } catch {
    return undefined // the process has ended
  }
}

/** The text of this file of each thread of a process; none if the process has ended. */
export const ofThreads = (pid: number, name: string): string[] =>
  (tryTo(() => readdirSync(`/proc/${pid}/task`)) ?? []).map(
    thread => tryTo(() => readFileSync(`/proc/${pid}/task/${thread}/${name}`, 'utf8')) ?? '',
  )

export const childrenOf = (pid: number): number[] =>
  ofThreads(pid, 'children').join('').split(' ').filter(Boolean).map(Number)

/** A process and all that descend from it, parents first. */
export function processTree(first: number): number[] {
  const found = [first]
  for (const pid of found) found.push(...childrenOf(pid))
  return found
}

/** The fields of /proc/PID/stat after the name, beginning with the state. Empty if the process has ended. */
export function fieldsOf(pid: number): string[] {
  const stat = tryTo(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? ''
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** Seconds of processor time of a process and of its ended children. */
export const cpuSeconds = (pid: number): number =>
  fieldsOf(pid)
    .slice(11, 15)
    .reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS

/** Ticks in a second, on every architecture. */
const TICKS = 100

/** Returns false if the process is gone. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean =>
  tryTo(() => process.kill(pid, name)) ?? false

/** Whether a process of the group lives. For a command that could not be started, whose pid is undefined: false. */
export const signalGroup = (pid: number | undefined, name: NodeJS.Signals | 0): boolean =>
  pid !== undefined && signal(-pid, name)

/** Whether a process is stopped, or has been sent a SIGSTOP that it has not taken yet. */
export function isStopped(pid: number): boolean {
  const status = tryTo(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? ''
  const pending = [...status.matchAll(/^(?:Sig|Shd)Pnd:\s*(\w+)$/gm)]
  const hasSigstop = pending.some(([, mask]) => (BigInt(`0x${mask}`) >> 18n) & 1n)
  return fieldsOf(pid)[0] === 'T' || hasSigstop
}
