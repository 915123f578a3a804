/** Follows redirects, and repeats a request that a receiver refuses for a moment, if the post asks for it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptResult, Post, Repeats } from '../../core/ports.ts'

/** One request. `body` is absent from a GET. */
export type Hop = Omit<Post, 'body'> & { body: string | undefined }

/** The headers of a response that decide on the next request, if the hop has `redirects` or `repeats`. */
export type Next = {
  location?: string | undefined
  retryAfter?: string | undefined
  date?: string | undefined
}

type SendOnce = (hop: Hop) => Promise<AttemptResult & { next?: Next }>

/** Each request keeps the rules for addresses, and has the whole timeout for itself. */
export const createFollow =
  (sendOnce: SendOnce) =>
  async (post: Post): Promise<AttemptResult> => {
    const { redirects, repeats, goesOn = async () => true } = post
    if (!redirects && !repeats) return sendOnce(post)
    async function ask(hop: Hop): ReturnType<SendOnce> {
      const result = await sendOnce(hop)
      if (!repeats?.statuses.includes(result.status_code ?? 0)) return result
      await sleep(waitOf(result.next, repeats))
      return (await goesOn()) ? sendOnce(hop) : result
    }
    const visited = new Set<string>()
    let hop: Hop = post
    let redirected: number | undefined
    for (;;) {
      const { next, ...answer } = await ask(hop)
      const result = redirected === undefined ? answer : { ...answer, redirected }
      const { status_code: status } = result
      const url = next?.location && URL.parse(next.location, hop.url)?.href
      if (!redirects || !url || status === null) return result
      const asGet = redirects.asGet.includes(status)
      if (!asGet && !redirects.unchanged.includes(status)) return result
      if (visited.size === redirects.most || visited.has(url) || !(await goesOn())) return result
      visited.add(url)
      if (hop.body !== undefined) redirected = status
      hop = asGet ? { ...hop, url, headers: {}, body: undefined } : { ...hop, url }
    }
  }

/** Milliseconds before the repeat. Retry-After is a number of seconds, or a date by the receiver's clock. */
function waitOf(next: Next | undefined, { wait, longest }: Repeats): number {
  const { retryAfter = '', date = '' } = next ?? {}
  const ms = /^\d+$/.test(retryAfter)
    ? Number(retryAfter) * 1000
    : Date.parse(retryAfter) - Date.parse(date)
  return ms > 0 ? Math.min(ms, longest) : wait
}
