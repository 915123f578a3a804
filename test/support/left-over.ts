/** Ends a process of tests that something keeps running after all of them, which otherwise shows after half an hour. */
import { after } from 'node:test'

/** Milliseconds. A busy machine may need some seconds to close everything. */
const LONGEST = 60_000

export function endWhatIsKept(longest: number = LONGEST): void {
  after(() => {
    setTimeout(() => {
      const kept = process.getActiveResourcesInfo().join(', ')
      process.stderr.write(`All tests have ended, but not the process. It is kept by: ${kept}\n`)
      process.exit(1)
    }, longest).unref()
  })
}
