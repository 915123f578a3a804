/** Who asked for a result, with what it was asked for. */
type Asked<Item, Result> = { item: Item } & Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'>

/**
 * Lets callers share work: what is asked for of a key while a run of it is underway shares the next run, at most `most`
 * together. `work` resolves to one result per item, in their order.
 */
export function createGathering<Item, Result>(
  most: number,
  work: (items: Item[]) => Promise<Result[]>,
) {
  /** By key, while it has a run. */
  const waiting = new Map<string, Asked<Item, Result>[]>()

  async function run(key: string, asked: Asked<Item, Result>[]): Promise<void> {
    // What is asked for in the same turn belongs to the first run.
    await undefined
    while (asked.length > 0) {
      const some = asked.splice(0, most)
      try {
        const results = await work(some.map(({ item }) => item))
        for (const [i, { resolve }] of some.entries()) resolve(results[i] as Result) // one per item
      } catch (error) {
        for (const { reject } of some) reject(error)
      }
    }
    waiting.delete(key)
  }

  return (key: string, item: Item): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const asked = waiting.get(key)
    if (asked) asked.push({ item, resolve, reject })
    else {
      const first = [{ item, resolve, reject }]
      waiting.set(key, first)
      void run(key, first)
    }
    return promise
  }
}

/** How many places a statement may have for items: few numbers, so that few statements are prepared. */
const SIZES = [1, 8, 64]

/** The items, with the last repeated, as many as one of `SIZES`. There are at most 64. */
export function padded<Item>(items: Item[]): Item[] {
  const size = SIZES.find(each => each >= items.length) ?? items.length
  return [...items, ...Array<Item>(size - items.length).fill(items.at(-1) as Item)] // there is one
}
