/** By map: its keys, the oldest first. A new iterator would first pass every place of a deleted key. */
const oldestFirst = new WeakMap<object, Iterator<unknown>>()

/** Sets the newest entry of a map. Beyond `most` entries it deletes the oldest, which a Map has first. */
export function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  const keys = oldestFirst.get(map) ?? map.keys()
  oldestFirst.set(map, keys)
  map.delete(keys.next().value as Key)
}
