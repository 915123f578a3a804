/** The first example of an endpoint's request as a shell command. */
import { exampleAddresses } from '../http/addresses.ts'
import { FORM_TYPE, JSON_TYPE } from '../http/body.ts'
import type { Content, Example, Operation } from '../http/describe.ts'

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2)

/** The examples of the first media type. */
export const examplesIn = (content: Content | undefined): Example[] =>
  Object.values(Object.values(content ?? {})[0]?.examples ?? {})

export function curl(method: string, path: string, operation: Operation): string {
  const { security = [], requestBody } = operation
  const [example] = examplesIn(requestBody?.content)
  const parts = [
    `curl -i ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}${address(path, operation)}`,
    ...(security.length > 0 ? ["-H 'Authorization: Bearer YOUR_API_KEY'"] : []),
    ...(requestBody && example ? bodyArguments(requestBody.content, example.value) : []),
  ]
  return parts.join(' \\\n  ')
}

/** With the examples of the path's parameters. */
function address(path: string, { parameters = [] }: Operation): string {
  const base = path.startsWith('/secure') ? exampleAddresses.pages : exampleAddresses.api
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const examples = parameters.find(parameter => parameter.name === name)?.schema.examples
    return Array.isArray(examples) ? String(examples[0]) : name
  })
  return base + filled
}

function bodyArguments(content: Content, value: unknown): string[] {
  if (JSON_TYPE in content)
    return ["-H 'Content-Type: application/json'", `-d ${quoted(pretty(value))}`]
  if (!(FORM_TYPE in content) || typeof value !== 'object' || value === null) return []
  const fields = Object.entries(value).map(([name, text]) => `-d ${quoted(`${name}=${text}`)}`)
  return fields.length > 0 ? fields : ["-d ''"]
}

/** As one argument of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
