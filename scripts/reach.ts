/** Which lines of `src` each test file reaches, for `npm run mutate`. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './mutants.ts'

/** For a file of `src` the lines that are reached, as pairs of the first and the one after the last, and its text's hash. */
type Lines = { hash: string; pairs: number[] }
type Reached = { hash: string; green: boolean; ms: number; lines: Record<string, Lines> }
type Run = { green: boolean; ms: number; copy: string; output: string }
type V8Coverage = {
  result: {
    url: string
    functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[]
  }[]
}

export type Coverage = {
  files: Map<string, Reached>
  missing(): string[]
  add(file: string, run: Run): void
  save(): void
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** What was measured before, for test files that have not changed since. */
export function readCoverage(root: string, path: string, tests: string[]): Coverage {
  const hashOfTest = (file: string) => hashOf(readFileSync(join(root, file), 'utf8'))
  const kept: Record<string, Reached> = existsSync(path)
    ? JSON.parse(readFileSync(path, 'utf8'))
    : {}
  const files = new Map(
    Object.entries(kept).filter(
      ([file, { hash }]) => tests.includes(file) && hash === hashOfTest(file),
    ),
  )
  return {
    files,
    missing: () => tests.filter(file => !files.has(file)),
    add(file, { green, ms, copy, output }) {
      files.set(file, {
        hash: hashOfTest(file),
        green,
        ms,
        lines: green ? linesIn(copy, output) : {},
      })
      this.save()
    },
    save: () => writeFileSync(path, JSON.stringify(Object.fromEntries(files))),
  }
}

/** The test files that reach a mutant. Once its file has changed, all that reached any line of it. */
export function reaches(
  { files }: Coverage,
  { file, line }: Mutant,
  text: string,
): { file: string; ms: number }[] {
  const hash = hashOf(text)
  return [...files].flatMap(([test, { ms, lines }]) => {
    const found = lines[file]
    if (!found) return []
    const isReached = found.pairs.some(
      (first, nth) => nth % 2 === 0 && line >= first && line < (found.pairs[nth + 1] ?? 0),
    )
    return isReached || found.hash !== hash ? [{ file: test, ms }] : []
  })
}

/** From what Node wrote of every process of a run. */
function linesIn(copy: string, output: string): Record<string, Lines> {
  const start = pathToFileURL(join(copy, 'src/')).href
  const reached = new Map<string, { text: string; at: Uint8Array }>()
  for (const name of globSync(join(output, '*.json'))) {
    for (const { url, functions } of readResult(name)) {
      if (!url.startsWith(start) || !url.endsWith('.ts')) continue
      const file = `src/${url.slice(start.length)}`
      const text = reached.get(file)?.text ?? readFileSync(join(copy, file), 'utf8')
      const at = new Uint8Array(text.length)
      const ranges = functions.flatMap(found => found.ranges)
      // What is within another range is narrower.
      ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset))
      for (const { startOffset, endOffset, count } of ranges)
        at.fill(count > 0 ? 1 : 0, startOffset, endOffset)
      reached.get(file)?.at.forEach((one, place) => {
        at[place] ||= one
      })
      reached.set(file, { text, at })
    }
  }
  return Object.fromEntries(
    [...reached].map(([file, { text, at }]) => [
      file,
      { hash: hashOf(text), pairs: pairsOf(text, at) },
    ]),
  )
}

/** Nothing of a process that was killed while it wrote. */
function readResult(name: string): V8Coverage['result'] {
  try {
    return JSON.parse(readFileSync(name, 'utf8')).result
  } catch {
    return []
  }
}

function pairsOf(text: string, at: Uint8Array): number[] {
  const pairs: number[] = []
  let [line, isReached, was] = [1, false, false]
  for (let place = 0; place <= text.length; place++) {
    if (place < text.length && text[place] !== '\n') {
      isReached ||= at[place] === 1 && text[place]?.trim() !== ''
      continue
    }
    if (isReached !== was) pairs.push(line)
    ;[was, isReached] = [isReached, false]
    line++
  }
  return was ? [...pairs, line] : pairs
}
