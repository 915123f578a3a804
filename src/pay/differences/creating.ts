/** Differences in creating a payment. */
import * as errors from '../../core/errors.ts'
import { idFloor } from '../../core/ids.ts'
import type { AccountTime } from '../../core/ports.ts'
import { DAY } from '../../core/time.ts'
import { CREATES, difference, type Mode, WEB } from './difference.ts'
import { isReturnAddress } from './return-address.ts'
import { inCode } from './source.ts'
import { keptFor } from './states.ts'

/** In pence. */
export const leastAmount = difference({
  subject: 'Amount 0',
  specification: 'It is accepted',
  govukPay: 'It is refused with 422 P0102, unless its support has allowed it',
  source: inCode('connector', 'charge/service/ChargeService.java', '1223'),
  rule: {
    id: 'P1',
    level: 'warn',
    advice: 'Ask its support to allow payments of 0 for the account, or make no payment.',
    among: CREATES,
    whenever: true,
    answer: (least, { body }) => Number(body.amount) < least,
  },
  decides: { specification: 0, 'govuk-pay': 1 },
})

/** Whether a return_url may be http. `isListed`: its host is in FARTHING_RETURN_HOSTS. */
export const plainHttp = difference<(isListed: boolean) => boolean>({
  subject: 'http in return_url',
  specification: 'Only hosts of FARTHING_RETURN_HOSTS may have it, others are 422 P0102',
  govukPay: 'A test account takes it with any host, a live one refuses it with 422 P0920',
  source: inCode('connector', 'charge/service/ChargeService.java', '428-434'),
  noRule: 'P2',
  decides: { specification: isListed => isListed, 'govuk-pay': () => true },
})

/** The rule that a return_url breaks, in words that follow "return_url"; undefined if it breaks none. */
export const returnAddress = difference<(url: string) => string | undefined>({
  subject: 'The address in return_url',
  specification: 'Any host and any path that a URL can have',
  govukPay:
    'It is refused with 422 P0102 for a host with an underscore or an unknown top-level domain, such as .test, a path that is not ASCII or leads above its root, or a character that must be encoded',
  source: inCode('connector', 'charge/validation/ReturnUrlValidator.java', '13-32'),
  rule: {
    id: 'P3',
    level: 'note',
    advice:
      'Use a public name, .local, .internal or localhost with a test account, and encode the path.',
    among: WEB,
    answer: (problem, { body: { return_url: url } }) =>
      typeof url === 'string' && problem(url) !== undefined,
  },
  decides: {
    specification: url =>
      /^[a-z][a-z0-9+.-]*:\/\/[^/?#]/i.test(url) && URL.canParse(url)
        ? undefined
        : 'must be an absolute URL with a host',
    'govuk-pay': url =>
      isReturnAddress(url) && URL.canParse(url)
        ? undefined
        : 'must be an address with http or https, a public host or a single name, and a path of ASCII below its root',
  },
})

/** Whether a return_url counts as left out. */
export const blankReturnUrl = difference<(url: string) => boolean>({
  subject: 'A return_url of white space',
  specification: 'It counts as left out, in every mode',
  govukPay: 'Only an empty one does. White space is 422 P0102 in web mode, else 400 P0104',
  source: inCode('connector', 'charge/model/ChargeCreateRequest.java', '172-174'),
  noRule: 'both refuse it in web mode',
  decides: { specification: url => url.trim() === '', 'govuk-pay': url => url === '' },
})

export const keepsBlankPrefilled = difference<boolean>({
  subject: 'Blank texts in prefilled_cardholder_details',
  specification: 'They count as left out',
  govukPay:
    'They are kept and shown, even empty ones, and so refused in agreement mode with 400 P0104',
  source: inCode('publicapi', 'model/CreateCardPaymentRequestBuilder.java', '136-147'),
  noRule: 'they prefill nothing',
  decides: { specification: false, 'govuk-pay': true },
})

const MOST_DIGITS = 10

/** A line of a billing address, or the name on a card, as it is stored. */
export const keptText = difference<(text: string) => string>({
  subject: 'Many digits in a billing address or in the name on a card',
  specification: 'They are kept',
  govukPay:
    'Where one of their texts has more than ten, all its digits become *. The prefilled cardholder_name keeps them until a card was submitted',
  source: inCode('connector', 'charge/model/AddressEntity.java', '41-46'),
  noRule: 'answers do not show it',
  decides: {
    specification: text => text,
    'govuk-pay': text =>
      text.replace(/[^0-9]/g, '').length > MOST_DIGITS ? text.replace(/[0-9]/g, '*') : text,
  },
})

export const keepsEmptyMetadata = difference<boolean>({
  subject: 'Metadata without pairs',
  specification: 'It is kept and shown as {}',
  govukPay: 'It counts as left out',
  source: inCode('java commons', 'api/json/ExternalMetadataDeserialiser.java', '21-24'),
  noRule: 'answers do not show it',
  decides: { specification: true, 'govuk-pay': false },
})

type UsedKey = 'refused' | 'ignored' | 'repeats'

/** The result of a create whose Idempotency-Key has created a payment. */
export const usedKey = difference<(mode: Mode) => UsedKey>({
  subject: 'The second use of an Idempotency-Key',
  specification: 'It is refused with 409 P0191',
  govukPay:
    'Outside agreement mode the key is ignored: two equal requests make two payments. In agreement mode the same request within 24 hours returns 200 with the first payment',
  source: inCode('connector', 'charge/resource/ChargesApiResource.java', '174'),
  rule: {
    id: 'P4',
    level: 'fail',
    advice: 'Make sure that one order makes one payment. Only agreement mode uses the key.',
    among: CREATES,
    whenever: true,
    // To repeat a request with its key in agreement mode is right: production answers with the first payment.
    answer: (decided, { refusal, body }) =>
      refusal?.code === 'P0191' && decided(modeOf(body)) === 'ignored',
  },
  decides: {
    specification: () => 'refused',
    'govuk-pay': mode => (mode === 'agreement' ? 'repeats' : 'ignored'),
  },
})

/** The lowest identifier of a payment that still holds its Idempotency-Key. */
export const oldestWithKey = difference<(now: AccountTime) => string>({
  subject: 'How long an Idempotency-Key is kept',
  specification: 'Until its payment is 7 days old',
  govukPay: '24 hours',
  source: inCode('connector settings', 'config.yaml', '280'),
  noRule: 'it takes two requests',
  decides: {
    specification: now => idFloor(now - keptFor.specification + 1),
    'govuk-pay': now => idFloor(now - DAY + 1),
  },
})

/** Whether a set_up_agreement of this type is ignored. */
export const ignoredSetUp = difference<(value: unknown) => boolean>({
  subject: 'A set_up_agreement that is not a string',
  specification: 'It is refused with 400 P0102',
  govukPay:
    'It is ignored. An agreement_payment_type beside it is 400 P0104, after all other fields are read',
  source: inCode('publicapi', 'json/RequestJsonParser.java', '296-298'),
  noRule: 'it is refused here',
  decides: { specification: () => false, 'govuk-pay': value => typeof value !== 'string' },
})

/** The error for a set_up_agreement that the account does not have. */
export const unknownSetUp = difference<() => errors.ApiError>({
  subject: 'A set_up_agreement that does not exist',
  specification: '400 P0103 with the field set_up_agreement',
  govukPay: '400 P0102 with the field agreement_id',
  source: inCode('connector', 'charge/service/ChargeService.java', '334-336'),
  noRule: 'both refuse it',
  decides: { specification: errors.unknownSetUpAgreement, 'govuk-pay': errors.unknownAgreement },
})

/** Whether `metadata` is checked while the fields are read, before the limits of the others. */
export const checksMetadataFirst = difference<boolean>({
  subject: 'Metadata that is wrong beside another field that is',
  specification: 'The other field is named, since metadata is the last',
  govukPay: 'Metadata is named, before the limits of all other fields',
  source: inCode('publicapi', 'json/RequestJsonParser.java', '150-152'),
  noRule: 'both refuse it',
  decides: { specification: false, 'govuk-pay': true },
})

/** The status of the error for an `internal.source`; undefined if it is accepted. */
export const refusedSource = difference<(source: unknown) => 400 | 422 | undefined>({
  subject: 'The undocumented field `internal.source`',
  specification: 'It is ignored, as any unknown field',
  govukPay:
    'It must be CARD_PAYMENT_LINK or CARD_AGENT_INITIATED_MOTO. Other words of its own, and what is neither text nor null, are 400 P0102, any other text 422',
  source: inCode('publicapi', 'json/RequestJsonParser.java', '375-399'),
  noRule: 'no integration sends it',
  decides: {
    specification: () => undefined,
    'govuk-pay': source => {
      if (TAKEN_SOURCES.includes(source)) return undefined
      return typeof source === 'string' && !OTHER_SOURCES.includes(source) ? 422 : 400
    },
  },
})

const TAKEN_SOURCES: unknown[] = [undefined, null, 'CARD_PAYMENT_LINK', 'CARD_AGENT_INITIATED_MOTO']
const OTHER_SOURCES = ['CARD_API', 'CARD_EXTERNAL_TELEPHONE']

/** Whether agreement mode without agreement_id is refused before return_url and Idempotency-Key are checked. */
export const readsAgreementFirst = difference<boolean>({
  subject: 'agreement mode without `agreement_id`',
  specification: 'It is refused while the fields are read, in their order',
  govukPay: 'It is refused after the Idempotency-Key was looked up',
  source: inCode('connector', 'charge/service/ChargeService.java', '1287-1289'),
  noRule: 'both refuse it',
  decides: { specification: true, 'govuk-pay': false },
})

const modeOf = ({ authorisation_mode: mode }: Readonly<Record<string, unknown>>): Mode =>
  mode === 'moto_api' || mode === 'agreement' ? mode : 'web'
