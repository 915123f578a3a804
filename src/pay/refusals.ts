/** Refuses requests under /v1 before their fields are read. The areas have further refusals. */
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

/** Counts equal texts within the present second. The next second begins at 0. An account has at most three texts. */
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

/** For POST /v1/auth `account` is the account of the token: undefined if the token is unknown. */
type Arrival = {
  request: FastifyRequest
  accepts: Accepts | undefined
  account?: Account | undefined
}

/** The error for a request before its fields are read. A behaviour without a function refuses nothing here. */
export type Refusals = Decision<((arrival: Arrival) => Error | undefined) | undefined>

export const FORBIDDEN = 'must not contain <, > or |'

/** As `jsonBody`, but under the behaviour of the account. Throws also if a text has characters that it blocks. */
export function bodyOf(request: FastifyRequest, code: BodyCode, integers: readonly string[] = []) {
  const { behaviour } = request.account
  const body: Json = jsonBody(request, code, integers, otherBody[behaviour].read)
  if (blockedText[behaviour](body)) throw blocked(FORBIDDEN)
  return body
}

/** The refusals of the firewall come before that of the rate limit. `now` is the machine's time. */
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
