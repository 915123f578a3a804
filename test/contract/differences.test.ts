import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Behaviour, behaviours } from '../../src/core/account.ts'
import { differences } from '../../src/pay/differences/all.ts'
import { type Client, createClient } from '../support/client.ts'
import { ask } from '../support/control.ts'
import { agreements } from '../support/differences/agreements.ts'
import { creating } from '../support/differences/creating.ts'
import { messages } from '../support/differences/messages.ts'
import { pages } from '../support/differences/pages.ts'
import { reading } from '../support/differences/reading.ts'
import { refunds } from '../support/differences/refunds.ts'
import { arriving, cards, errors, searching } from '../support/differences/requests.ts'
import { states } from '../support/differences/states.ts'
import { onSharedDatabases } from '../support/service.ts'

/** For one difference, how a client sees it, and what the client sees under each behaviour. */
export type Case = { seen: (api: Client, tools: Tools) => Promise<unknown> } & Record<
  Behaviour,
  unknown
>

type Tools = {
  control: (api: Client, path: string, body: object) => Promise<unknown>
  /** A client whose answers are not compared with /openapi.json. */
  unchecked: (api: Client) => Client
}

const cases = {
  ...creating,
  ...arriving,
  ...errors,
  ...cards,
  ...searching,
  ...reading,
  ...states,
  ...refunds,
  ...agreements,
  ...messages,
  ...pages,
} satisfies Record<keyof typeof differences, Case>

onSharedDatabases(
  'Differences between the specification and GOV.UK Pay',
  { control: true, receives: true },
  service => {
    for (const [name, each] of Object.entries<Case>(cases)) {
      const { subject } = differences[name as keyof typeof differences].about
      for (const behaviour of behaviours)
        test(`${subject}: ${behaviour} (${name})`, async () => {
          const api = await service().newAccount(behaviour)
          const control: Tools['control'] = (...asked) => ask(service(), ...asked)
          const { baseUrls } = service()
          const unchecked: Tools['unchecked'] = ({ key }) =>
            createClient(baseUrls, key, 'unchecked')
          assert.deepEqual(await each.seen(api, { control, unchecked }), each[behaviour])
        })
    }
  },
)
