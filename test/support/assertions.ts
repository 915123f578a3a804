import assert from 'node:assert/strict'
import type { Answer } from './client.ts'

/** Where a fault is: the name of a body's field or of a header, as the error body says it. */
type At = { field?: string; header?: string }

/** The answer is this error and its body has no key but those of an error body. */
export function assertError(answer: Answer, status: number, code: string, at: At = {}): void {
  const { description, ...rest } = answer.body ?? {}
  assert.deepEqual({ status: answer.status, ...rest }, { status, code, ...at }, answer.text)
  assert.equal(typeof description, 'string')
  assert.ok(description.length > 0)
}
