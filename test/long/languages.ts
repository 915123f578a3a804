/** The examples in other languages under all faults of bad-days.ts. */
import assert from 'node:assert/strict'
import { badDays, moreBadDays } from '../support/bad-days.ts'
import { isMissing, languages } from '../support/languages.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title: 'Examples in other languages on bad days',
  async run() {
    const days = Object.entries({ ...badDays, ...moreBadDays })
    const installed = languages.filter(language => !isMissing(language))
    assert.ok(installed.length > 0, 'no language is installed')
    for (const language of installed)
      for (const [day, happens] of days) {
        const start = performance.now()
        await happens(language)
        const seconds = ((performance.now() - start) / 1_000).toFixed(1)
        console.log(`${language.name}: ${day}, ${seconds} s`)
      }
    return `${days.length} in ${installed.map(({ name }) => name).join(', ')}`
  },
}
