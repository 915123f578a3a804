/** The form of the workbench: what was typed or uploaded becomes a question. Nothing of it is kept or logged. */

import { bodyProblem } from '../../explain/signature/bodies.ts'
import { keyProblem, type NamedKey } from '../../explain/signature/keys.ts'
import type { Question, SentMessage } from '../../explain/signature/question.ts'

/** What was typed, and the file: undefined if none was chosen. */
type Submission = { form: URLSearchParams; file: Buffer | undefined }

export async function readSubmission(data: FormData): Promise<Submission> {
  const file = data.get('file')
  // Without a choice a browser sends an empty file without a name.
  const isChosen = file instanceof File && (file.name !== '' || file.size > 0)
  const form = new URLSearchParams()
  for (const [name, value] of data) {
    if (typeof value !== 'string') continue
    if (name === 'base64') form.set(name, value.replace(/\s/g, ''))
    else form.set(name, name === 'header' || name === 'computed' ? value.trim() : value)
  }
  return { form, file: isChosen ? Buffer.from(await file.arrayBuffer()) : undefined }
}

const textsOf = (form: URLSearchParams) => {
  const text = (name: string) => form.get(name) ?? ''
  return {
    header: text('header'),
    key: text('key'),
    text: text('text'),
    base64: text('base64'),
    computed: text('computed'),
  }
}

/** What the analysis may compare with. */
export type Candidates = {
  message: SentMessage | undefined
  keys: readonly NamedKey[]
  messages: readonly SentMessage[]
  /** API keys of the account, which a receiver may use by mistake. */
  apiKeys: readonly string[]
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** What was left out comes from the message that was picked. */
export function questionOf(
  submission: Submission,
  candidates: Candidates,
): Question | { errors: Record<string, string> } {
  const { form, file } = submission
  const { header, key, text, base64, computed } = textsOf(form)
  const { message } = candidates
  const body =
    file ??
    (base64 !== '' ? Buffer.from(base64, 'base64') : undefined) ??
    (text !== '' ? Buffer.from(text) : undefined)
  const errors = { ...problemsOf(submission, body), ...errorsOf(submission, candidates) }
  if (Object.keys(errors).length > 0) return { errors }
  const question = {
    keys: candidates.keys,
    apiKeys: candidates.apiKeys,
    messages: candidates.messages,
    header: header === '' ? undefined : header,
    computed: computed === '' ? undefined : computed,
    typed: file === undefined && base64 === '' && text !== '',
  }
  return message
    ? { ...question, message, body, key: key === '' ? undefined : key }
    : { ...question, body: body ?? Buffer.alloc(0), key }
}

/** Why a key or a body is not compared, at the field that it is in. */
function problemsOf({ form, file }: Submission, body: Buffer | undefined): Record<string, string> {
  const [ofKey, ofBody] = [keyProblem(form.get('key') ?? ''), bodyProblem(body)]
  const field = file ? 'file' : form.get('base64') ? 'base64' : 'text'
  return { ...(ofKey && { key: ofKey }), ...(ofBody && { [field]: ofBody }) }
}

/** In the order of the fields. */
function errorsOf({ form, file }: Submission, { message }: Candidates): Record<string, string> {
  const { header, key, text, base64, computed } = textsOf(form)
  const bodies = [file !== undefined, base64 !== '', text !== ''].filter(Boolean).length
  const hasSignature = header !== '' || computed !== ''
  const isEmpty = !hasSignature && key === '' && bodies === 0
  const errors: Record<string, string> = {}
  if (form.get('message') && !message)
    errors.message = 'Pick a message of this account whose bytes are kept'
  else if (!message && isEmpty) errors.message = 'Pick a message'
  if (isEmpty) errors.computed = 'Enter what your code computed, or what else you have'
  else if (!message) {
    if (!hasSignature) errors.header = 'Enter the header Pay-Signature, or what your code computed'
    if (key === '') errors.key = 'Enter the signing key, or pick a message'
  }
  if (base64 !== '' && !BASE64.test(base64)) errors.base64 = 'Enter the body in base64'
  if (bodies > 1) errors.text = 'Give the body once: as a file, in base64, or as text'
  else if (!message && !isEmpty && bodies === 0 && header === '')
    errors.text = 'Enter the body, or pick a message'
  return errors
}
