/** Who asked for a result, with what it was asked for. */
type Asked<Item, Result> = { item: Item } & Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'>

/**
 * What is asked for of a key during a run shares the next run, at most `most` together; where more waits, up to `atOnce`
 * runs go on side by side. `work` resolves to one result per item, in their order.
 */
export function createGathering<Item, Result>(
  most: number,
  work: (items: Item[]) => Promise<Result[]>,
  atOnce = 1,
) {
  /** By key, while it has a run. */
  const lines = new Map<string, { asked: Asked<Item, Result>[]; runs: number }>()

  async function run(key: string): Promise<void> {
    // What is asked for in the same turn belongs to the first run.
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
    const isFull = line.runs < atOnce && line.asked.length >= line.runs * most
    if (line.runs === 0 || isFull) {
      line.runs += 1
      void run(key)
    }
    return promise
  }
}

/** Of a key one run at a time. What is asked for during one shares the next, which begins after the call. */
export function createSharing<Result>() {
  const gather = createGathering(Infinity, async (works: (() => Promise<Result>)[]) => {
    const result = await works[0]?.()
    return works.map(() => result as Result) // there is one at least
  })
  return (key: string, work: () => Promise<Result>): Promise<Result> => gather(key, work)
}

/** How many places a statement may have for items: few numbers, so that few statements are prepared. */
const SIZES = [1, 8, 64]

/** The items, with the last repeated, as many as one of `SIZES`. There are at most 64. */
export function padded<Item>(items: Item[]): Item[] {
  const size = SIZES.find(each => each >= items.length) ?? items.length
  return [...items, ...Array<Item>(size - items.length).fill(items.at(-1) as Item)] // there is one
}

/** The items in parts, each with as many as one of `SIZES`: for statements that may not have one twice. */
export function inSizes<Item>(items: readonly Item[]): Item[][] {
  const parts: Item[][] = []
  for (let done = 0; done < items.length; done += parts.at(-1)?.length ?? 0) {
    const size = SIZES.findLast(each => each <= items.length - done)
    parts.push(items.slice(done, done + (size ?? 1)))
  }
  return parts
}
