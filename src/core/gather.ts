/** A call that waits for its result. */
type Asked<Item, Result> = { item: Item } & Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'>

/**
 * Calls for a key in one turn of the event loop, or while it has `atOnce` runs, share the next run, at most `most` together.
 * `work` resolves to one result per item, in their order.
 */
export function createGathering<Item, Result>(
  most: number,
  work: (items: Item[]) => Promise<Result[]>,
  atOnce = 1,
) {
  /** By key, while it has a run. */
  const lines = new Map<string, { asked: Asked<Item, Result>[]; runs: number }>()

  async function run(key: string): Promise<void> {
    // Calls in the same turn belong to the first run.
    await undefined
    const line = lines.get(key)
    while (line && line.asked.length > 0) {
      const some = line.asked.splice(0, most)
      try {
        const results = await work(some.map(({ item }) => item))
        for (const [i, { resolve }] of some.entries()) resolve(results[i] as Result) // one per item
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

/** One run of a key at a time. Calls during a run share the next, which begins after them. */
export function createSharing<Result>() {
  const gather = createGathering(Infinity, async (works: (() => Promise<Result>)[]) => {
    const result = await works[0]?.()
    return works.map(() => result as Result) // there is one at least
  })
  return (key: string, work: () => Promise<Result>): Promise<Result> => gather(key, work)
}

/** How many places a statement may have for items: few numbers, so that few statements are prepared. */
const SIZES = [1, 2, 4, 8, 16, 32, 64]

/** The items, with the last repeated, as many as one of `SIZES`. There are at most 64. */
export function padded<Item>(items: Item[]): Item[] {
  const size = SIZES.find(places => places >= items.length) ?? items.length
  return [...items, ...Array<Item>(size - items.length).fill(items.at(-1) as Item)] // there is one
}

/** The items in parts, each with as many as one of `SIZES`: for statements that may not have one twice. */
export function inSizes<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = []
  for (let done = 0; done < items.length; done += parts.at(-1)?.length ?? 0) {
    const size = SIZES.findLast(places => places <= items.length - done)
    parts.push(items.slice(done, done + (size ?? 1)))
  }
  return parts
}
