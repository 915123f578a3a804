/** How the JSON of an exchange is stored. A row with the answer of a create fits twice on a page of SQLite, of 4 KiB. */
import type { ExchangeBody, KeptBody } from '../../core/exchange.ts'

/** `code` and `field` have columns. */
type StoredBody = Omit<ExchangeBody, 'code' | 'field'>

/** What a row leaves out. */
const DEFAULTS = {
  query: '',
  request_headers: {},
  response_headers: {},
  ended: 'sent',
} as const satisfies Partial<StoredBody>

type Short = Omit<StoredBody, keyof typeof DEFAULTS | 'request_body' | 'response_body'> &
  Partial<Pick<StoredBody, keyof typeof DEFAULTS>> & {
    request_body?: ShortText
    response_body?: ShortText
  }

/** Rows of earlier versions have `text`, newer ones `swapped`: " and ' are exchanged, so that JSON escapes few. */
type ShortText = Omit<KeptBody, 'text'> & ({ text: string } | { swapped: string })

/** Stands for the identifier of the payment, and is before JSON in which it does. */
const ID_MARK = '^'

export function printBody(body: StoredBody, payment_id: string | null): string {
  const { query, request_headers, response_headers, ended, request_body, response_body, ...rest } =
    body
  const short: Short = {
    ...rest,
    ...(query !== '' && { query }),
    ...(Object.keys(request_headers).length > 0 && { request_headers }),
    ...(Object.keys(response_headers).length > 0 && { response_headers }),
    ...(ended !== 'sent' && { ended }),
    ...(request_body && { request_body: shortText(request_body) }),
    ...(response_body && { response_body: shortText(response_body) }),
  }
  const json = JSON.stringify(short)
  if (payment_id === null || json.includes(ID_MARK)) return json
  return ID_MARK + json.replaceAll(payment_id, ID_MARK)
}

export function readBody(stored: string, payment_id: string | null): StoredBody {
  const json = stored.startsWith(ID_MARK)
    ? stored.slice(1).replaceAll(ID_MARK, payment_id ?? '')
    : stored
  const { request_body, response_body, ...rest } = JSON.parse(json) as Short // written by printBody
  return {
    ...DEFAULTS,
    ...rest,
    ...(request_body && { request_body: wholeText(request_body) }),
    ...(response_body && { response_body: wholeText(response_body) }),
  }
}

const shortText = ({ text, ...rest }: KeptBody): ShortText => ({
  swapped: swapQuotes(text),
  ...rest,
})

function wholeText(short: ShortText): KeptBody {
  if ('text' in short) return short
  const { swapped, ...rest } = short
  return { text: swapQuotes(swapped), ...rest }
}

/** Most JSON has no ', and then a replacement without a function takes half the time. */
const swapQuotes = (text: string): string =>
  text.includes("'")
    ? text.replace(/["']/g, quote => (quote === '"' ? "'" : '"'))
    : text.replace(/"/g, "'")
