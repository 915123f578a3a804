/** Lists with a cursor instead of page numbers, so that no rows are counted or skipped. */

/** Identifiers, exclusive. At most one of them is used: `after` if both are given. */
export type Cursor = { before?: string | undefined; after?: string | undefined }

export type CursorPage<Item> = {
  /** Newest first. */
  items: Item[]
  /** For the links Newer and Older: undefined where there are no more. */
  newer: Cursor | undefined
  older: Cursor | undefined
}

type Find<Item> = (
  cursor: { before?: string; after?: string },
  options: { limit: number; order: 'newest' | 'oldest' },
) => Promise<Item[]>

/** `size` items from the cursor on. One more is read, to learn whether there are more. */
export async function readPage<Item>(
  { before, after }: Cursor,
  size: number,
  idOf: (item: Item) => string,
  find: Find<Item>,
): Promise<CursorPage<Item>> {
  const limit = size + 1
  if (after !== undefined) {
    const found = (await find({ after }, { limit, order: 'oldest' })).toReversed()
    // The item that the cursor excludes is older.
    if (found.length > 0)
      return cursorPage(found.slice(-size), idOf, { newer: found.length > size, older: true })
  }
  const from = before === undefined || after !== undefined ? {} : { before }
  const found = await find(from, { limit, order: 'newest' })
  const more = { newer: 'before' in from, older: found.length > size }
  return cursorPage(found.slice(0, size), idOf, more)
}

function cursorPage<Item>(
  items: Item[],
  idOf: (item: Item) => string,
  more: { newer: boolean; older: boolean },
): CursorPage<Item> {
  const [first, last] = [items[0], items.at(-1)]
  return {
    items,
    newer: more.newer && first !== undefined ? { after: idOf(first) } : undefined,
    older: more.older && last !== undefined ? { before: idOf(last) } : undefined,
  }
}
