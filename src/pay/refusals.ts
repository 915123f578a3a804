/** What is refused of requests under /v1 before their fields are read, beside what the areas refuse. */
import type { FastifyRequest } from 'fastify'
import type { Account } from '../core/account.ts'
import { type BodyCode, blocked, tooManyRequests } from '../core/errors.ts'
import type { MachineTime } from '../core/ports.ts'
import { SECOND } from '../core/time.ts'
import { type Accepts, hasBody, JSON_TYPE, jsonBody, sentType } from '../platform/http/body.ts'
import type { Json } from '../platform/http/fields.ts'
import { blockedText, postsASecond, takenAccept, takenType } from './differences/arriving.ts'
import type { Decision } from './differences/difference.ts'
import { otherBody } from './differences/errors.ts'

const kindOf = (url: string): string => {
  const [path = ''] = url.split('?', 1)
  return /\/(capture|payments)\/?$/.exec(path)?.[1] ?? 'other'
}

/** Counts what happens in the present second, and forgets it with the next: an account has three counters at most. */
export function createCounts(now: () => MachineTime) {
  const counts = new Map<string, number>()
  let second = Number.NaN
  return (what: string): number => {
    const present = Math.floor(now() / SECOND)
    if (present !== second) counts.clear()
    second = present
    const count = (counts.get(what) ?? 0) + 1
    counts.set(what, count)
    return count
  }
}

/** Of POST /v1/auth the account is that of the token, and undefined for an unknown one. */
type Arrival = {
  request: FastifyRequest
  accepts: Accepts | undefined
  account?: Account | undefined
}

/** The error for a request before its fields are read. Without a function nothing more is looked at. */
export type Refusals = Decision<((arrival: Arrival) => Error | undefined) | undefined>

export const FORBIDDEN = 'must not contain <, > or |'

/** The JSON object in the body, as the behaviour of the account reads it. Otherwise as `jsonBody`. */
export function bodyOf(request: FastifyRequest, code: BodyCode, integers: readonly string[] = []) {
  const { behaviour } = request.account
  const body: Json = jsonBody(request, code, integers, otherBody[behaviour].read)
  if (blockedText[behaviour](body)) throw blocked(FORBIDDEN)
  return body
}

/** In the order of the firewall and then the rate limit. `now` is the machine's time. */
export function createRefusals(now: () => MachineTime): Refusals {
  const count = createCounts(now)
  return {
    specification: undefined,
    'govuk-pay'({ request, accepts, account }) {
      const { method, url, query, headers } = request
      if (!takenAccept['govuk-pay'](headers.accept)) return blocked('must accept application/json')
      if (accepts && !(takenType['govuk-pay'](sentType(request)) && hasBody(request)))
        return blocked(`must have a body with the Content-Type ${JSON_TYPE}`)
      if (blockedText['govuk-pay']({}, query)) return blocked(FORBIDDEN)
      if (method !== 'POST') return undefined
      const posts = count(`${kindOf(url)} ${account?.name ?? ''}`)
      return posts > postsASecond['govuk-pay'] ? tooManyRequests() : undefined
    },
  }
}
