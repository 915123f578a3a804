/** Measures how much processor time each test file takes, for `npm test -- --times`. */
import { appendFileSync } from 'node:fs'
import { afterEach, test } from 'node:test'
import { cpuSeconds } from './process-tree.ts'

/** Seconds. `cpu` includes the ended processes that this process started. */
export type Taken = { file: string; cpu: number; wall: number; tests: number }

const OUTPUT = process.env.FARTHING_TEST_TIMES

/** The text of a module that imports and measures these files. */
export const measured = (files: Map<string, string>): string =>
  [import.meta.url, ...[...files].map(([file, url]) => withMeasure(file, url))]
    .map(url => `import '${url}'\n`)
    .join('')

/** A module for each file, because only an import is sure to come after all tests of the file. */
const withMeasure = (file: string, url: string): string =>
  `data:text/javascript,import"${url}";import{measure}from"${import.meta.url}";measure("${file}")`

let tests = 0
let [cpu, wall] = [0, 0]

if (OUTPUT) {
  afterEach(() => {
    tests += 1
  })
  measure('(start of a process, with the code of its files)')
}

/** Defines a test that notes the use since the test before. The runner runs tests in the order of definition. */
export function measure(file: string): void {
  test(`times of ${file}`, () => {
    const now = [cpuSeconds(process.pid), performance.now() / 1000] as const
    const taken: Taken = { file, cpu: now[0] - cpu, wall: now[1] - wall, tests }
    appendFileSync(OUTPUT ?? '', `${JSON.stringify(taken)}\n`)
    ;[cpu, wall] = now
    tests = -1 // this test is counted when it ends
  })
}

/** A table of the noted lines, of the 30 dearest files. */
export function table(lines: string): string {
  const files = new Map<string, Taken>()
  for (const line of lines.trim().split('\n')) {
    const { file, cpu, wall, tests } = JSON.parse(line) as Taken
    const sum = files.get(file) ?? { file, cpu: 0, wall: 0, tests: 0 }
    files.set(file, { file, cpu: sum.cpu + cpu, wall: sum.wall + wall, tests: sum.tests + tests })
  }
  const rows = [...files.values()].sort((a, b) => b.cpu - a.cpu).slice(0, 30)
  const row = (cells: string[], file: string) =>
    `${cells.map(cell => cell.padStart(7)).join('')}  ${file}`
  return [
    row(['CPU s', 'wall s', 'tests'], 'file'),
    ...rows.map(({ file, cpu, wall, tests }) =>
      row([cpu.toFixed(1), wall.toFixed(1), String(tests)], file),
    ),
  ].join('\n')
}
