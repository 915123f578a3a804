/** Sets the newest entry. Beyond `most` deletes the oldest thousandth in one pass: passes walk over deleted entries. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  let left = Math.ceil(most / 1_000)
  for (const oldest of map.keys()) {
    map.delete(oldest)
    left -= 1
    if (left === 0) return
  }
}

/** Calls `ask`. Calls that come before its answer share that answer. */
export function oneAtATime<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asking: Promise<Answer> | undefined
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}

/** Calls `make` once and keeps its value. A failure is not kept: it may pass, as when all descriptors were in use. */
export function onFirstUse<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let value: Promise<Made> | undefined
  return () => {
    value ??= make().catch(error => {
      value = undefined
      throw error
    })
    return value
  }
}
