/** Holds callers back from `close` until `open`. It starts open. */
export function createGate() {
  let passage = Promise.withResolvers<void>()
  passage.resolve()
  let waiting = 0
  return {
    close: () => {
      passage = Promise.withResolvers()
    },
    open: () => passage.resolve(),
    waiting: () => waiting,
    async wait(): Promise<void> {
      waiting += 1
      await passage.promise
      waiting -= 1
    },
  }
}
