/**
 * The texts of the hosted pages in English. The compiler checks that the Welsh catalogue has the same keys.
 * A sentence with a value in it is a function. No sentence is put together from fragments, because Welsh
 * words mutate after certain words.
 */
import { englishShell } from '../../platform/web/layout.ts'
import type { Language } from '../payments/payment.ts'

export const page = (heading: string, ...body: string[]) => ({ heading, body })

export const en = {
  language: 'en' as Language,
  errorTitle: (page: string) => `Error: ${page}`,
  shell: englishShell,
  continueButton: 'Continue',
  continueHint: 'Select Continue to go back to the service.',
  cancelButton: 'Cancel payment',

  summary: {
    heading: 'Payment summary',
    description: 'Description',
    reference: 'Reference',
    total: 'Total amount',
    agreement: 'Agreement',
    cardKept: 'Your card details will be saved for future payments under this agreement.',
  },

  person: {
    heading: 'Your details',
    name: 'Name on card',
    address: 'Billing address',
    email: 'Email address',
  },

  details: {
    heading: 'Enter payment details',
    legend: 'How should this payment end?',
    hint: 'A real service would ask for card details here.',
    success: 'The payment succeeds',
    successHint: 'You will confirm it on the next page. Final status: success.',
    capturableHint:
      'You will confirm it on the next page. Status: capturable, until the service captures it.',
    declined: 'The card is declined',
    declinedHint: 'Final status: failed. Code:\u00a0P0010.',
    error: 'The payment provider has an error',
    errorHint: 'Final status: error. Code:\u00a0P0050.',
    or: 'or',
    cancel: 'The user cancels the payment',
    cancelHint: 'Final status: failed. Code:\u00a0P0030.',
    errorSummaryTitle: 'There is a problem',
    errorPrefix: 'Error',
    nothingChosen: 'Select how this payment should end',
  },

  confirm: {
    heading: 'Confirm your payment',
    cardHeading: 'Card details',
    cardType: 'Card type',
    creditCard: (brand: string) => `${brand} credit`,
    debitCard: (brand: string) => `${brand} debit`,
    cardNumber: 'Card number',
    endingIn: (lastDigits: string) => `Ending in ${lastDigits}`,
    expiryDate: 'Expiry date',
    confirmButton: 'Confirm payment',
  },

  cancel: page('Your payment has been cancelled', 'No money has been taken from your account.'),
  declined: page(
    'Your payment has been declined',
    'No money has been taken from your account.',
    'If this were a real payment, you could try another card or ask your bank why it was declined.',
  ),
  error: page(
    'Sorry, we are having technical problems',
    'Your payment has not gone through. No money has been taken from your account.',
    'You have not done anything wrong.',
  ),
  paid: page('Your payment was successful', 'You do not need to pay again.'),
  expired: page(
    'Your payment has expired',
    'It was not completed in time. No money has been taken from your account.',
    'To pay, start again in the service.',
  ),
  cancelledByService: page(
    'The service has cancelled this payment',
    'No money has been taken from your account.',
  ),

  notFound: page(
    'Page not found',
    'If you typed or pasted the web address, check that it is complete and correct.',
    'Payment links stop working 7 days after they are made. To pay, go back to the service that sent you here and start again.',
    'If you are building this service: only the next_url of a payment leads to its page, and in production it also needs the cookie that the payer’s browser was given there.',
  ),
  badRequest: page(
    'Sorry, we cannot understand this request',
    'Nothing has changed. Go back to the service you came from and try again.',
  ),
  otherSite: page(
    'Sorry, we cannot accept this request',
    'It came from another website. Nothing has changed.',
    'Go back to the service you came from and open the payment page again.',
  ),
  wrongMethod: page(
    'Sorry, you cannot do that on this page',
    'You can only read this page and send the form on it. Nothing has changed.',
    'Go back to the service you came from and open the payment page again.',
  ),
  tooLarge: page(
    'The form is too large',
    'We received more information than this page accepts. Nothing has changed.',
    'Go back to the service you came from and open the payment page again.',
  ),
  wrongForm: page(
    'We do not recognise this form',
    'It does not look like a form from our payment pages. Nothing has changed.',
    'Go back to the service you came from and open the payment page again.',
  ),
  fault: page(
    'Sorry, there is a problem with the service',
    'Try again in a few minutes.',
    'The service that sent you here can tell you whether the payment was made.',
  ),
}

/** The keys that every language has, with the types of their values. */
export type Messages = typeof en
