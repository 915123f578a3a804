import { test } from 'node:test'
import { seed } from '../support/properties.ts'
import { explore } from './model-explore.ts'

test(`1,000 commands change states, amounts and messages as in the model, on SQLite and PostgreSQL`, () =>
  explore({ seed, commands: 1_000, postgres: true }).then(() => {}))
