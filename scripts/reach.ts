/** Which lines of `src` each test file reaches, for `npm run mutate`. */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './mutants.ts'

/** Of a file of `src`: the hash of its text, and for each line 1 if the test reaches it, otherwise 0. */
type Lines = { hash: string; reached: string }

/** Of a test file: its hash, its duration in milliseconds, and the lines that it reached, none if it was red. */
export type Reached = { hash: string; ms: number; lines: Record<string, Lines> }

type Range = { startOffset: number; endOffset: number; count: number }
type Script = { url: string; functions: { ranges: Range[] }[] }

export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Whether a test reaches a mutant of a file with this text. In a file that has changed, any reached line counts. */
export function reaches({ lines }: Reached, { file, line }: Mutant, text: string): boolean {
  const found = lines[file]
  return found !== undefined && (found.reached[line - 1] === '1' || found.hash !== hashOf(text))
}

/** The lines that any process of a run reached, from the coverage that Node wrote into `output` for each process. */
export function linesIn(copy: string, output: string): Record<string, Lines> {
  const start = pathToFileURL(join(copy, 'src/')).href
  const files = new Map<string, { text: string; at: Uint8Array }>()
  for (const { url, functions } of globSync(join(output, '*.json')).flatMap(scriptsIn)) {
    if (!url.startsWith(start) || !url.endsWith('.ts')) continue
    const file = `src/${url.slice(start.length)}`
    const text = files.get(file)?.text ?? readFileSync(join(copy, file), 'utf8')
    const at = new Uint8Array(text.length)
    const ranges = functions.flatMap(found => found.ranges)
    // A range within another range is shorter.
    ranges.sort((a, b) => b.endOffset - b.startOffset - (a.endOffset - a.startOffset))
    for (const { startOffset, endOffset, count } of ranges)
      at.fill(count > 0 ? 1 : 0, startOffset, endOffset)
    files.get(file)?.at.forEach((one, place) => {
      at[place] ||= one
    })
    files.set(file, { text, at })
  }
  const lines = [...files].map(([file, { text, at }]) => [
    file,
    { hash: hashOf(text), reached: reachedIn(text, at) },
  ])
  return Object.fromEntries(lines)
}

function reachedIn(text: string, at: Uint8Array): string {
  let end = 0
  const lines = text.split('\n').map(line => {
    const start = end + line.search(/\S|$/)
    end += line.length + 1
    return at.subarray(start, end - 1).includes(1) ? 1 : 0
  })
  return lines.join('')
}

/** The scripts in a file of coverage; none if its process was killed while it wrote the file. */
function scriptsIn(name: string): Script[] {
  try {
    return JSON.parse(readFileSync(name, 'utf8')).result
  } catch {
    return []
  }
}
