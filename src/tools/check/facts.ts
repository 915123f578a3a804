import { isForm } from './production.ts'
import type { RequestFacts } from './rule.ts'

type Given = Pick<RequestFacts, 'operation' | 'at' | 'status' | 'code' | 'headers'> & {
  query: string
  body: Buffer | string | undefined
}

/** Reads what the rules look at from a request. */
export function factsOf({ query, body, ...rest }: Given): RequestFacts {
  return { ...rest, query: new URLSearchParams(query), body: fieldsOf(rest.headers, body) }
}

function fieldsOf(headers: RequestFacts['headers'], body: Given['body']): RequestFacts['body'] {
  if (body === undefined || body.length === 0) return {}
  const text = body.toString()
  if (isForm(headers)) return Object.fromEntries(new URLSearchParams(text))
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
  } catch {
    return {}
  }
}
