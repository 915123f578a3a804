/** The number of owners beyond which a queue that becomes empty is deleted. */
const MOST_IDLE = 1_000

type Line<Item> = { owner: string; items: Item[] }

/** A queue in which owners take turns. The items of one owner keep their order. */
export function createRounds<Item>() {
  const lines = new Map<string, Line<Item>>()
  /** The lines that are not empty, in the order of their turns. */
  const busy: Line<Item>[] = []
  let current: Line<Item> | undefined
  let length = 0

  function next(): Item | undefined {
    current = busy[0]
    if (!current) return undefined
    const { owner, items } = current
    length -= 1
    const item = items.shift()
    if (items.length === 0) {
      busy.shift()
      if (lines.size > MOST_IDLE) lines.delete(owner)
    }
    return item
  }

  function pass(): void {
    if (!current || busy.length < 2 || busy[0] !== current) return
    busy.shift()
    busy.push(current)
  }

  return {
    length: () => length,
    add(owner: string, item: Item): void {
      let line = lines.get(owner)
      if (!line) {
        line = { owner, items: [] }
        lines.set(owner, line)
      }
      if (line.items.push(item) === 1) busy.push(line)
      length += 1
    },
    /** The next item of the owner who has the turn. */
    next,
    /** Ends the turn of the owner whose item `next` has just returned. */
    pass,
    /** The next items, one of each owner in turn, until their weights, each at least 1, make `most`. */
    take(most: number, weightOf: (item: Item) => number = () => 1): Item[] {
      const taken: Item[] = []
      for (let weight = 0; weight < most; pass()) {
        const item = next()
        if (item === undefined) break
        taken.push(item)
        weight += weightOf(item)
      }
      return taken
    },
  }
}
