import { ApiError } from '../../core/errors.ts'

/** The errors of the endpoints below /control. Each description tells the client what to do. */

/** `rule` completes the sentence that begins with the field's name. */
const ofField = (code: 'C0101' | 'C0102') => (field: string, rule: string) =>
  new ApiError(422, code, `${field} ${rule}`, { field })
export const missingField = ofField('C0101')
export const badField = ofField('C0102')

export const noSuchField = (field: string, names: readonly string[]) =>
  new ApiError(
    422,
    'C0103',
    `there is no ${field}: ${names.length > 0 ? `use ${names.join(', ')}` : 'leave it out'}`,
    { field },
  )

export const notFound = (what: string) =>
  new ApiError(404, 'C0200', `there is no such ${what} of this account`)

/** The error for an action that only the account's parent may do. */
export const wrongKey = (account: string, parent: string) =>
  new ApiError(
    403,
    'C0403',
    `${account} is a test account: use the key of ${parent} to make, list and end test accounts`,
  )

export const conflict = (description: string) => new ApiError(409, 'C0409', description)

export const accountEnded = () => conflict('the account has ended, or was reset meanwhile')

export const tooMany = (description: string) => new ApiError(422, 'C0429', description)
