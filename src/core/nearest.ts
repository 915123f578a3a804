/** The nearest known word, for a question such as "Did you mean amount?". */

export function nearestOf(word: string, words: readonly string[]): string | undefined {
  const [nearest] = words
    .map(known => ({ known, distance: editDistance(word, known) }))
    .sort((a, b) => a.distance - b.distance)
  return nearest && nearest.distance <= word.length / 3 ? nearest.known : undefined
}

/** The Levenshtein distance: how many characters must be inserted, deleted or replaced. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, character] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + (character === to[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
