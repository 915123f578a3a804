/** The addresses of facts about GOV.UK Pay in its public source and its documentation, as of November 2026. */

const MAIN = 'src/main/java/uk/gov/pay'
const code = {
  connector: `pay-connector/blob/0e8fff4/${MAIN}/connector`,
  'connector settings': 'pay-connector/blob/0e8fff4/src/main/resources/config',
  publicapi: `pay-publicapi/blob/4d61e89/${MAIN}/api`,
  'publicapi settings': 'pay-publicapi/blob/4d61e89/src/main/resources/config',
  webhooks: `pay-webhooks/blob/7509d4c/${MAIN}/webhooks`,
  'webhooks settings': 'pay-webhooks/blob/7509d4c/src/main/resources/config',
  ledger: `pay-ledger/blob/e68228d/${MAIN}/ledger`,
  frontend: 'pay-frontend/blob/0f14c7e/app',
  'java commons':
    'pay-java-commons/blob/dafd42a/model-dropwizard-5/src/main/java/uk/gov/service/payments/commons',
}

/** `lines` is a line or a range, such as 12 or 12-20. */
export const inCode = (repository: keyof typeof code, file: string, lines: string): string =>
  `https://github.com/alphagov/${code[repository]}/${file}#L${lines.replace('-', '-L')}`

/** The text of the link: ChargeService.java#L12, or the page without https. */
export const sourceName = (source: string): string =>
  source.replace(/^.*\/(?=[\w.]+#L)|^https:\/\//, '')

/** A page with its heading, such as webhooks/#retry-mechanism. */
export const documented = (page: string): string => `https://docs.payments.service.gov.uk/${page}`
