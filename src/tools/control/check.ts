import { duration, oneOf } from '../../core/values.ts'
import { parameter } from '../../platform/http/query.ts'
import { object } from '../../platform/http/schema.ts'
import { checkAccount, ruleIds } from '../explain/check/report.ts'
import { levels, MOST_EVIDENCE } from '../explain/check/rule.ts'
import { badField } from '../steer/errors.ts'
import { count, identifier, nullable, text } from '../steer/schemas.ts'
import { defineEndpoint } from './endpoint.ts'
import { since } from './query.ts'

export const finding = object(
  'Finding',
  {
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
        'File and line in the public source of GOV.UK Pay, or page and heading of its documentation',
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
  },
  { webhook_id: { ...identifier, description: 'The webhook that it is about' } },
)

export const situation = object('Situation', {
  situation: text,
  met: {
    type: ['boolean', 'null'],
    description: 'Whether the application met it; null: only its own log can tell',
  },
  evidence: { ...nullable, description: 'The newest request or delivery that shows it' },
  line: {
    ...text,
    description: 'A command that makes it; what is left to do is a comment behind it',
  },
  library: { ...text, description: 'A call of farthing/testing that makes it, in the same way' },
})

export const report = object('Check', {
  version: { ...text, description: 'The version of this Farthing' },
  account: text,
  from: {
    ...nullable,
    description: "The account's time from which on was looked; null: nothing is kept",
  },
  to: { ...text, description: "The account's time now, or as of which it was judged" },
  kept: { ...count, description: 'Requests and deliveries that were looked at' },
  not_kept: { ...count, description: 'Those that were only counted' },
  findings: {
    type: 'array',
    items: finding,
    description:
      'Each rule at least once, without those that hold for the other behaviour only: fails first, then warnings, notes, what passed and what was not seen',
  },
  situations: {
    type: 'array',
    items: situation,
    description:
      'What the documentation of GOV.UK Pay tells a client to handle, and whether the application has met it. Empty with `rule`',
  },
})

export const readCheck = defineEndpoint({
  route: 'GET /control/check',
  operationId: 'readCheck',
  summary: 'Check whether the integration would work in production',
  query: {
    since: since('Only what happened at this time of the account’s clock or later'),
    as_of: parameter(
      duration(365),
      'Judges as if so much time had passed and nothing more had happened, such as 10m or 1d. No clock is moved',
      { examples: ['1d'] },
    ),
    rule: parameter(oneOf(ruleIds), 'Only this rule'),
  },
  description:
    'Looks at the requests and deliveries that are kept of the account, and says where GOV.UK Pay would do something else. Sends nothing.',
  response: [200, 'What was found', report],
  errors: () => [badField('rule', 'must be one of P1, P2 …')],
  handler: (context, { account, query: { as_of, ...query } }) =>
    checkAccount(context, account, { ...query, later: as_of }),
})
