/** Sets the newest entry of a map. Beyond `most` entries it deletes the oldest, which a Map has first. */
export function remember<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= most) return
  for (const oldest of map.keys()) return void map.delete(oldest)
}
