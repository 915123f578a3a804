/**
 * The text format that Prometheus reads, version 0.0.4: three kinds of lines, and a rule for what
 * must be escaped. https://prometheus.io/docs/instrumenting/exposition_formats/
 */

export type Counter = { increase(labels: string[]): void }
export type Histogram = { observe(labels: string[], value: number): void }

export type Registry = {
  /** Counts up by one. `labels` are names; each `increase` gives their values, which must be few. */
  counter(name: string, help: string, labels: string[]): Counter
  /** Counts how many values are at most as great as each bound. */
  histogram(name: string, help: string, labels: string[], bounds: number[]): Histogram
  /** Read when it is asked for. A counter that somebody else keeps has the type `counter`. */
  reading(name: string, help: string, read: () => number, type?: 'gauge' | 'counter'): void
  text(): string
}

export function createRegistry(): Registry {
  const families: (() => string[])[] = []

  const add = (name: string, help: string, type: string, lines: () => string[]) =>
    families.push(() => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()])

  return {
    counter(name, help, labels) {
      const series = createSeries(() => ({ value: 0 }))
      add(name, help, 'counter', () =>
        series.all().map(([values, { value }]) => `${name}${braces(labels, values)} ${value}`),
      )
      return {
        increase(values) {
          series.of(values).value += 1
        },
      }
    },
    histogram(name, help, labels, bounds) {
      const series = createSeries(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }))
      add(name, help, 'histogram', () =>
        series.all().flatMap(([values, { counts, count, sum }]) => [
          ...[...bounds.map(String), '+Inf'].map((bound, i) => {
            const at = braces([...labels, 'le'], [...values, bound])
            return `${name}_bucket${at} ${counts[i] ?? count}`
          }),
          `${name}_sum${braces(labels, values)} ${sum}`,
          `${name}_count${braces(labels, values)} ${count}`,
        ]),
      )
      return {
        observe(values, value) {
          const histogram = series.of(values)
          histogram.count += 1
          histogram.sum += value
          for (const [i, bound] of bounds.entries())
            if (value <= bound) histogram.counts[i] = (histogram.counts[i] ?? 0) + 1
        },
      }
    },
    reading: (name, help, read, type = 'gauge') =>
      void add(name, help, type, () => [`${name} ${read()}`]),
    text: () => `${families.flatMap(lines => lines()).join('\n')}\n`,
  }
}

/** What is kept for each combination of label values, made when it is first met. */
function createSeries<Kept>(make: () => Kept) {
  const kept = new Map<string, [values: string[], kept: Kept]>()
  return {
    of(values: string[]): Kept {
      const key = values.join('\0')
      const known = kept.get(key)
      if (known) return known[1]
      const made = make()
      kept.set(key, [values, made])
      return made
    },
    all: () => [...kept.values()],
  }
}

function braces(names: string[], values: string[]): string {
  if (names.length === 0) return ''
  return `{${names.map((name, i) => `${name}="${escapeValue(values[i] ?? '')}"`).join(',')}}`
}

const escapeValue = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
