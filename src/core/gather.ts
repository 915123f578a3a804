/** A call that waits for its result. */
type Asked<Item, Result> = { item: Item } & Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'>

/**
 * Gathers calls for a key: those in one turn of the event loop, or while the key has `atOnce` runs, share the next run.
 * A run has at most `most` calls. `work` resolves to one result per item, in the order of the items.
 */
export function createGathering<Item, Result>(
  most: number,
  work: (items: Item[]) => Promise<Result[]>,
  atOnce = 1,
) {
  /** The waiting calls of each key that has a run, and how many runs it has. */
  const lines = new Map<string, { asked: Asked<Item, Result>[]; runs: number }>()

  async function run(key: string): Promise<void> {
    // Calls in the same turn belong to the first run.
    await undefined
    const line = lines.get(key)
    while (line && line.asked.length > 0) {
      const some = line.asked.splice(0, most)
      try {
        const results = await work(some.map(({ item }) => item))
        for (const [i, { resolve }] of some.entries()) resolve(results[i] as Result) // `work` has one for each item
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
    if (line) line.runs -= 1
    if (line?.runs === 0) lines.delete(key)
  }

  return (key: string, item: Item): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const line = lines.get(key) ?? { asked: [], runs: 0 }
    lines.set(key, line)
    line.asked.push({ item, resolve, reject })
    if (line.runs < atOnce && (line.asked.length - 1) % most === 0) {
      line.runs += 1
      void run(key)
    }
    return promise
  }
}

/** Each key has one run at a time. Calls during a run share the next run, so it begins after all of them. */
export function createSharing<Result>() {
  const gather = createGathering(Infinity, async (works: (() => Promise<Result>)[]) => {
    const result = await works[0]?.()
    return works.map(() => result as Result) // a run has at least one call
  })
  return (key: string, work: () => Promise<Result>): Promise<Result> => gather(key, work)
}

/** Repeats the last item until their number is a power of two. So few statements are prepared. */
export function padded<Item>(items: readonly Item[]): Item[] {
  const size = 2 ** Math.ceil(Math.log2(items.length))
  return [...items, ...Array<Item>(size - items.length).fill(items.at(-1) as Item)] // not empty
}

/** Divides the items into parts of a power of two, at most 64, for statements in which no item may occur twice. */
export function inSizes<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = []
  for (let done = 0; done < items.length; done += parts.at(-1)?.length ?? 0) {
    const size = Math.min(64, 2 ** Math.floor(Math.log2(items.length - done)))
    parts.push(items.slice(done, done + size))
  }
  return parts
}
