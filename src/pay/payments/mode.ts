/** Checks the fields that the authorisation_mode of a new payment requires and forbids. */
import type { Behaviour } from '../../core/account.ts'
import type { Config } from '../../core/config.ts'
import * as errors from '../../core/errors.ts'
import { isAllowed, unlessListed } from '../../platform/outbound/address.ts'
import { leastAmount, plainHttp, returnAddress } from '../differences/creating.ts'
import { wordedError } from '../differences/errors.ts'
import type { AuthorisationMode, NewPayment } from './payment.ts'
import { WITHOUT_AGREEMENT } from './request.ts'

const codes = errors.fieldCodes.payment

/** Specification, *Limits*: the amount, as far as the behaviours differ. It is checked after the mode. */
export function checkLeastAmount({ amount }: NewPayment, behaviour: Behaviour): void {
  const least = leastAmount[behaviour]
  if (amount < least) throw errors.outsideLimit(codes, 'amount', `must be at least ${least}`)
}

/** `returnHosts` are the hosts for which return_url may be http. */
type ModeRules = { behaviour: Behaviour } & Pick<Config, 'returnHosts' | 'isLibrary'>

const whenMode = (mode: AuthorisationMode) => `when authorisation_mode is ${mode}`

/** Specification, *Payment*: the mode's rules for return_url, which are checked first. */
export function checkReturnUrl(payment: NewPayment, rules: ModeRules): void {
  const { authorisation_mode: mode, return_url } = payment
  const worded = wordedError[rules.behaviour]
  if (mode !== 'web') {
    if (return_url !== undefined) throw worded(errors.notAllowed('return_url', whenMode(mode)))
    return
  }
  if (return_url === undefined) throw worded(errors.missing(codes, 'return_url'))
  const problem = returnUrlProblem(return_url, rules)
  if (problem) throw worded(errors.outsideLimit(codes, 'return_url', problem))
}

/** Specification, *Payment*: the other rules of the mode, which are checked after `checkReturnUrl`. */
export function checkMode(payment: NewPayment, { behaviour }: Pick<ModeRules, 'behaviour'>): void {
  const { authorisation_mode: mode, set_up_agreement } = payment
  const worded = wordedError[behaviour]
  const refuse = (field: string, isGiven: boolean) => {
    if (isGiven) throw worded(errors.notAllowed(field, whenMode(mode)))
  }
  if (mode !== 'web') refuse('set_up_agreement', set_up_agreement !== undefined)
  if (mode === 'agreement' && payment.agreement_id === undefined)
    throw worded(errors.missing(codes, 'agreement_id'))
  if (mode !== 'agreement') {
    if (payment.agreement_payment_type && set_up_agreement === undefined)
      throw worded(errors.notAllowed('agreement_payment_type', WITHOUT_AGREEMENT))
    return
  }
  refuse('moto', payment.moto)
  refuse('email', payment.email !== undefined)
  refuse('prefilled_cardholder_details', payment.prefilled !== undefined)
}

/**
 * Specification, *POST /v1/payments*: return_url must be https. FARTHING_RETURN_HOSTS can allow http for some hosts.
 * return_url goes into a Location header, so it must also be a valid URL without white space.
 */
function returnUrlProblem(text: string, { behaviour, returnHosts, isLibrary }: ModeRules) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(text))
    return 'must not contain white space or control characters'
  const problem = returnAddress[behaviour](text)
  if (problem) return problem
  const url = new URL(text)
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:' && plainHttp[behaviour](isAllowed(url, returnHosts)))
    return undefined
  return `must be an https URL${unlessListed('returnHosts', isLibrary, url)}`
}
