/** Sets the newest entry. Beyond `most` deletes the oldest thousandth at once: an iterator passes deleted places. */
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

/** Calls while an answer is under way share it. */
export function oneAtATime<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asking: Promise<Answer> | undefined
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}

/** Calls `make` once and keeps the value, but no failure: a file cannot be read while all descriptors are in use. */
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
