/** A follower of /control/requests while two instances answer slow and fast requests: it must miss none. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { KEY, settings } from '../faults/process/serve.ts'
import { sendUnchecked } from '../support/client.ts'
import { createPostgresDatabase } from '../support/postgres.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

const AT_ONCE = 100
/** Milliseconds between two requests of a client: at most 100 a second and instance, so that all are recorded. */
const PAUSE = 500

export const job: Job = {
  title: 'A follower of the requests that two instances answer',
  async run({ scale }) {
    const env = settings(await createPostgresDatabase(), { FARTHING_CONTROL: 'true' })
    const first = await startProcess({ env })
    const instances = [first, await startProcess({ env })]
    const baseUrls = instances.map(({ baseUrl }) => baseUrl)
    try {
      const requests = Math.round(10_000 * scale)
      // Every request of one operation is slow: from a moment up to 12 seconds.
      const plan = { on: 'searchRefunds', when: 'after', delay: [1, 12_000], times: 'always' }
      const url = `${first.baseUrl}/control/plans`
      const planned = await sendUnchecked(url, { key: KEY, method: 'POST', json: plan })
      assert.equal(planned.status, 201)

      let isSending = true
      const follower = async (base: string, wait: number) => {
        const seen = new Map<string, number>()
        let [next, pages, idle] = ['', 0, 0]
        while (isSending || idle < 3) {
          const query = new URLSearchParams({ wait: String(wait), ...(next && { after: next }) })
          const url = `${base}/control/requests?${query}`
          const { body: page } = await sendUnchecked(url, { key: KEY })
          for (const { query: sent } of page.results) seen.set(sent, (seen.get(sent) ?? 0) + 1)
          next = page.next
          pages += 1
          idle = page.results.length === 0 ? idle + 1 : 0
        }
        return { seen, pages }
      }
      const following = baseUrls.map(base => follower(base, 1_000))

      let sent = 0
      const client = async (nth: number) => {
        while (sent < requests) {
          const number = ++sent
          const base = baseUrls[number % baseUrls.length]
          const path = nth % 2 === 0 ? '/v1/refunds' : '/v1/payments'
          await sendUnchecked(`${base}${path}?number=${number}`, { key: KEY })
          await pause(PAUSE)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => client(nth)))
      isSending = false
      const followers = await Promise.all(following)
      for (const { seen } of followers) {
        const missed = Array.from({ length: sent }, (_, i) => `number=${i + 1}`).filter(
          query => !seen.has(query),
        )
        assert.deepEqual(missed, [])
      }
      const repeated = followers.map(({ seen }) =>
        [...seen.values()].reduce((sum, times) => sum + times - 1, 0),
      )
      const pages = followers.map(each => each.pages)
      return `${sent} requests, ${followers.length} followers, none missed; ${repeated.join(' and ')} seen again, in ${pages.join(' and ')} pages`
    } finally {
      for (const instance of instances) await instance.kill()
    }
  },
}
