import type { Clock } from '../ports.ts'

/** Where progress is shown: a terminal has its line drawn over, anything else gets a line now and then. */
export type Screen = { write: (text: string) => void; isTerminal: boolean }

/** Milliseconds between two drawings of the bar. */
const REDRAW = 100
const WIDTH = 30

/** Shows how much of `total` is done, how fast it goes and how long it will still take. */
export function createProgress(total: number, { write, isTerminal }: Screen, clock: Clock) {
  const began = clock()
  let drawn = began
  let tenths = 0

  function line(done: number, now: number): string {
    const share = done / total
    const rate = Math.round((done / Math.max(1, now - began)) * 1000)
    const left = share > 0 ? Math.ceil(((now - began) * (1 - share)) / share / 1000) : 0
    const filled = Math.round(share * WIDTH)
    const bar = '#'.repeat(filled) + '-'.repeat(WIDTH - filled)
    const percent = `${Math.floor(share * 100)} %`.padStart(5)
    return `[${bar}] ${percent}  ${done} of ${total}, ${rate} a second, ${left} s left`
  }

  return (done: number): void => {
    const now = clock()
    const finished = done === total
    if (isTerminal) {
      if (!finished && now - drawn < REDRAW) return
      drawn = now
      write(`\r${line(done, now).padEnd(90)}${finished ? '\n' : ''}`)
    } else if (finished || Math.floor((done / total) * 10) > tenths) {
      tenths = Math.floor((done / total) * 10)
      write(`${line(done, now)}\n`)
    }
  }
}
