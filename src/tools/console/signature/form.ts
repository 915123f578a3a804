/** The form of the workbench: what was typed or uploaded becomes a question. Nothing of it is kept or logged. */

import { bodyProblem } from '../../explain/signature/bodies.ts'
import { keyProblem, type NamedKey } from '../../explain/signature/keys.ts'
import type { Question, SentMessage } from '../../explain/signature/question.ts'

const NAMES = ['message', 'header', 'key', 'text', 'base64', 'computed'] as const
export type Fields = Record<(typeof NAMES)[number], string>

/** What was typed, and the file: undefined if none was chosen. */
type Submission = { fields: Fields; file: Buffer | undefined }

export async function readSubmission(form: FormData): Promise<Submission> {
  const file = form.get('file')
  // Without a choice a browser sends an empty file without a name.
  const isChosen = file instanceof File && (file.name !== '' || file.size > 0)
  const fields = fieldsOf(name => form.get(name))
  return {
    fields: {
      ...fields,
      header: fields.header.trim(),
      base64: fields.base64.replace(/\s/g, ''),
      computed: fields.computed.trim(),
    },
    file: isChosen ? Buffer.from(await file.arrayBuffer()) : undefined,
  }
}

/** Those that are no text are ''. */
export const fieldsOf = (read: (name: string) => unknown): Fields =>
  Object.fromEntries(
    NAMES.map(name => {
      const value = read(name)
      return [name, typeof value === 'string' ? value : '']
    }),
  ) as Fields // each name was read

/** What the analysis may compare with. */
export type Candidates = {
  message: SentMessage | undefined
  keys: readonly NamedKey[]
  messages: readonly SentMessage[]
  /** API keys of the account, which a receiver may use by mistake. */
  apiKeys: readonly string[]
}

export type FieldErrors = Partial<Record<keyof Fields | 'file', string>>

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/

/** What was left out comes from the message that was picked. */
export function questionOf(
  submission: Submission,
  candidates: Candidates,
): Question | { errors: FieldErrors } {
  const { fields, file } = submission
  const { header, key, text, base64, computed } = fields
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
function problemsOf({ fields, file }: Submission, body: Buffer | undefined): FieldErrors {
  const [ofKey, ofBody] = [keyProblem(fields.key), bodyProblem(body)]
  const field = file ? 'file' : fields.base64 !== '' ? 'base64' : 'text'
  return { ...(ofKey && { key: ofKey }), ...(ofBody && { [field]: ofBody }) }
}

/** In the order of the fields. */
function errorsOf({ fields, file }: Submission, { message }: Candidates): FieldErrors {
  const { header, key, text, base64, computed } = fields
  const bodies = [file !== undefined, base64 !== '', text !== ''].filter(Boolean).length
  const hasSignature = header !== '' || computed !== ''
  const isEmpty = !hasSignature && key === '' && bodies === 0
  const errors: FieldErrors = {}
  if (fields.message !== '' && !message)
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
