/** Runs the work of one room one after another, so that it competes only with other instances. */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(room: string, work: () => Promise<Result>): Promise<Result> => {
    const mine = (last.get(room) ?? Promise.resolve()).then(work, work)
    last.set(room, mine)
    try {
      return await mine
    } finally {
      if (last.get(room) === mine) last.delete(room)
    }
  }
}
