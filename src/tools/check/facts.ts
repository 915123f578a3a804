import type { RequestFacts } from './rule.ts'

type Given = Omit<RequestFacts, 'query' | 'body'> & {
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

export const isForm = (headers: RequestFacts['headers']): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')

/** The texts in a JSON value, the names of its fields included. It may be nested deeper than functions can call. */
export function textsIn(value: unknown): string[] {
  const left = [value]
  for (const each of left)
    if (typeof each === 'object' && each !== null)
      for (const entry of Object.entries(each)) left.push(...entry)
  return left.filter(each => typeof each === 'string')
}
