import { test } from 'node:test'
import { seed } from '../support/properties.ts'
import { explore } from './model-explore.ts'

test(`300 commands change states, amounts and messages as in the model, on SQLite and PostgreSQL`, () =>
  explore({ seed, commands: 300 }).then(() => {}))
