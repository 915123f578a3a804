import { meanings } from '../errors.ts'
import { JSON_TYPE } from '../http/body.ts'
import type { Answer, Operation } from '../http/describe.ts'

/** Every error code, with the statuses that the operations answer it with and what it means. */
export function errorTable(operations: Operation[], shared: Record<string, Answer>): string {
  const statuses = Map.groupBy(
    operations.flatMap(({ responses }) =>
      Object.entries(responses).flatMap(([status, answer]) =>
        codesIn(answer, shared).map(code => ({ code, status })),
      ),
    ),
    ({ code }) => code,
  )
  const rows = Object.entries(meanings).map(([code, meaning]) => {
    const found = new Set(statuses.get(code)?.map(({ status }) => status))
    return `| \`${code}\` | ${[...found].sort().join(', ') || 'none'} | ${meaning} |`
  })
  return ['| Code | Status | Meaning |', '|---|---|---|', ...rows].join('\n')
}

/** The codes of an answer's examples. */
function codesIn(answer: Answer, shared: Record<string, Answer>): string[] {
  if ('$ref' in answer) return codesIn(shared[answer.$ref.split('/').at(-1) ?? ''] ?? NONE, shared)
  const examples = Object.values(answer.content?.[JSON_TYPE]?.examples ?? {})
  return examples.flatMap(({ value }) =>
    typeof value === 'object' && value !== null && 'code' in value ? [String(value.code)] : [],
  )
}

const NONE: Answer = { description: '' }
