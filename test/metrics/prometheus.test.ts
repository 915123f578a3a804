import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRegistry } from '../../src/metrics/prometheus.ts'

test('counters, histograms and readings are printed as Prometheus reads them', () => {
  const registry = createRegistry()
  const calls = registry.counter('calls_total', 'Calls.', ['who', 'how'])
  calls.increase(['a', 'b'])
  calls.increase(['a', 'b'])
  calls.increase(['say "hi"\\\n', ''])
  const sizes = registry.histogram('sizes', 'Sizes.', ['of'], [1, 2.5])
  for (const value of [1, 2, 3]) sizes.observe(['x'], value)
  let reads = 0
  registry.reading('reads', 'Reads.', () => ++reads)
  registry.reading('seconds_total', 'Seconds.', () => 1.5, 'counter')
  assert.equal(
    registry.text(),
    `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{who="a",how="b"} 2
calls_total{who="say \\"hi\\"\\\\\\n",how=""} 1
# HELP sizes Sizes.
# TYPE sizes histogram
sizes_bucket{of="x",le="1"} 1
sizes_bucket{of="x",le="2.5"} 2
sizes_bucket{of="x",le="+Inf"} 3
sizes_sum{of="x"} 6
sizes_count{of="x"} 3
# HELP reads Reads.
# TYPE reads gauge
reads 1
# HELP seconds_total Seconds.
# TYPE seconds_total counter
seconds_total 1.5
`,
  )
  assert.match(registry.text(), /^reads 2$/m)
})

test('values of labels that look alike are kept apart', () => {
  const registry = createRegistry()
  const calls = registry.counter('calls_total', 'Calls.', ['a', 'b'])
  calls.increase(['x', 'yz'])
  calls.increase(['xy', 'z'])
  assert.match(registry.text(), /\{a="x",b="yz"\} 1\n.*\{a="xy",b="z"\} 1\n/)
})
