import type { Endpoint } from '../../platform/http/endpoint.ts'
import { json } from '../../platform/http/openapi.ts'
import { object } from '../../platform/http/schema.ts'
import type { ToolContext } from '../context.ts'
import { checkAccount, levels, ruleIds } from '../explain/check/report.ts'
import { MOST_EVIDENCE } from '../explain/check/rule.ts'
import { badField, unknownParameter } from './errors.ts'
import { instant, oneOf, queryParameters, readQuery } from './query.ts'
import { count, identifier, nullable, text } from './schemas.ts'

const known = {
  since: instant('Only what happened at this time of the account’s clock or later'),
  rule: oneOf(ruleIds, 'Only this rule'),
}

export const finding = object('Finding', {
  rule: { ...text, description: 'Such as P4. The page Check of the console lists all rules' },
  level: {
    ...text,
    enum: levels,
    description:
      '`fail`: will break in production. `warn`: is likely to. `note`: to know before you go live. `pass`: what was seen is right. `not seen`: there was nothing to judge, and `sentence` says what is lacking',
  },
  title: text,
  sentence: { ...text, description: 'What happens in production' },
  advice: text,
  source: {
    ...text,
    description:
      'The difference from GOV.UK Pay that it is about, or where GOV.UK Pay documents it',
  },
  times: { ...count, description: 'How often it was seen' },
  first: { ...nullable, description: "The account's time of the first" },
  newest: { ...nullable, description: "The account's time of the newest" },
  evidence: {
    type: 'array',
    maxItems: MOST_EVIDENCE,
    items: identifier,
    description:
      'The newest requests and deliveries that show it: `/console/requests/{id}` has each',
  },
})

export const report = object('Check', {
  version: { ...text, description: 'The version of this Farthing' },
  account: text,
  from: {
    ...nullable,
    description: "The account's time from which on was looked; null: nothing is kept",
  },
  to: { ...text, description: "The account's time now" },
  kept: { ...count, description: 'Requests and deliveries that were looked at' },
  not_kept: { ...count, description: 'Those that were only counted' },
  findings: {
    type: 'array',
    items: finding,
    description:
      'Each rule at least once: fails first, then warnings, notes, what passed and what was not seen',
  },
})

export const readCheck = (context: ToolContext): Endpoint => ({
  method: 'GET',
  path: '/control/check',
  area: 'control',
  operationId: 'readCheck',
  summary: 'Check whether the integration would work in production',
  docs: () => ({
    description:
      'Looks at the requests and deliveries that are kept of the account, and says where GOV.UK Pay would do something else. Sends nothing.',
    parameters: queryParameters(known),
    responses: { 200: json('What was found', report) },
    errors: [unknownParameter(), badField('rule', 'must be one of P1, P2 …')],
  }),
  handler: request => checkAccount(context, request.account, readQuery(request, known)),
})
