/** An object with the same names, and for each the value that `change` returns. */
export const mapValues = <Name extends string, Value, Changed>(
  object: Readonly<Record<Name, Value>>,
  change: (value: Value, name: Name) => Changed,
) =>
  Object.fromEntries(
    Object.entries<Value>(object).map(([name, value]) => [name, change(value, name as Name)]),
  ) as Record<Name, Changed> // the names are those of the object
