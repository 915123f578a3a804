/** Turns the form of the page *Signature* into a question. Nothing that was typed or uploaded is kept or logged. */

import { bodyProblem } from '../../explain/signature/bodies.ts'
import { keyProblem } from '../../explain/signature/keys.ts'
import type { Input, Question, SentMessage } from '../../explain/signature/question.ts'

type Submission = { form: URLSearchParams; file: Buffer | undefined }

export async function readSubmission(data: FormData): Promise<Submission> {
  const file = data.get('file')
  // If no file was chosen, a browser sends an empty one without a name.
  const isChosen = file instanceof File && (file.name !== '' || file.size > 0)
  const form = new URLSearchParams()
  for (const [name, value] of data) {
    if (typeof value !== 'string') continue
    if (name === 'base64') form.set(name, value.replace(/\s/g, ''))
    else form.set(name, name === 'header' || name === 'computed' ? value.trim() : value)
  }
  return { form, file: isChosen ? Buffer.from(await file.arrayBuffer()) : undefined }
}

type Candidates = Pick<Input, 'keys' | 'apiKeys' | 'messages'> & {
  message: SentMessage | undefined
}

/** The message that was picked replaces the fields that were left empty. */
export function questionOf(
  { form, file }: Submission,
  { message, keys, apiKeys, messages }: Candidates,
): Question | { errors: Record<string, string> } {
  const entry = (name: string) => form.get(name) || undefined
  const [key, base64, text] = [entry('key'), entry('base64'), entry('text')]
  const typed = base64 === undefined ? text && Buffer.from(text) : Buffer.from(base64, 'base64')
  const body = file ?? (typed || undefined)
  const errors = errorsOf({ form, file }, message, body)
  if (Object.keys(errors).length > 0) return { errors }
  const question = {
    keys,
    apiKeys,
    messages,
    header: entry('header'),
    computed: entry('computed'),
    typed: file === undefined && base64 === undefined && text !== undefined,
  }
  return message
    ? { ...question, message, body, key }
    : { ...question, body: body ?? Buffer.alloc(0), key: key ?? '' }
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** The errors in the order of the fields, except that a key or a body that cannot be compared comes first. */
function errorsOf(
  { form, file }: Submission,
  message: SentMessage | undefined,
  body: Buffer | undefined,
): Record<string, string> {
  const has = (name: string) => form.get(name) !== null && form.get(name) !== ''
  const bodies = [file !== undefined, has('base64'), has('text')].filter(Boolean).length
  const hasSignature = has('header') || has('computed')
  const isEmpty = !hasSignature && !has('key') && bodies === 0
  const [ofKey, ofBody] = [keyProblem(form.get('key') ?? ''), bodyProblem(body)]
  const errors: Record<string, string> = {}
  if (ofKey) errors.key = ofKey
  if (ofBody) errors[file ? 'file' : has('base64') ? 'base64' : 'text'] = ofBody
  if (has('message') && !message)
    errors.message = 'Pick a message of this account whose bytes are kept'
  else if (!message && isEmpty) errors.message = 'Pick a message'
  if (isEmpty) errors.computed = 'Enter what your code computed, or what else you have'
  else if (!message) {
    if (!hasSignature) errors.header = 'Enter the header Pay-Signature, or what your code computed'
    if (!has('key')) errors.key = 'Enter the signing key, or pick a message'
  }
  if (!BASE64.test(form.get('base64') ?? '')) errors.base64 = 'Enter the body in base64'
  if (bodies > 1) errors.text = 'Give the body once: as a file, in base64, or as text'
  else if (!message && !isEmpty && bodies === 0 && !has('header'))
    errors.text = 'Enter the body, or pick a message'
  return errors
}
