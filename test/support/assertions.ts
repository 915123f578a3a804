import assert from 'node:assert/strict'
import type { Answer } from './client.ts'

type At = { field?: string; header?: string }

/** Checks that the answer is this error and that its body has no other keys. */
export function assertError(answer: Answer, status: number, code: string, at: At = {}): void {
  const { description, ...rest } = answer.body ?? {}
  assert.deepEqual({ status: answer.status, ...rest }, { status, code, ...at }, answer.text)
  assert.equal(typeof description, 'string')
  assert.ok(description.length > 0)
}

/** Status, code, field and header of an answer: "201", or "422 P0102 amount". */
export const briefOf = ({ status, body }: Pick<Answer, 'status' | 'body'>): string =>
  [status, body?.code, body?.field, body?.header].filter(Boolean).join(' ')
