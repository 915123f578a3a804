/** Sets the newest entry. Beyond `most` the oldest thousandth goes at once: an iterator passes the places of deleted ones. */
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

/** Those who ask while an answer is under way share it. */
export function oneAtATime<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let asking: Promise<Answer> | undefined
  return () => {
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }
}

/** Makes something when it is first asked for, and keeps it. After a failure it is made anew: a file cannot be read while all file descriptors are in use. */
export function onFirstUse<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined
  return () => {
    made ??= make().catch(error => {
      made = undefined
      throw error
    })
    return made
  }
}
