import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { explore } from './model-explore.ts'

const seed = Number(process.env.FARTHING_TEST_SEED ?? randomInt(2 ** 31))

test(`2,000 commands change states, amounts and messages as in the model, on SQLite and PostgreSQL (FARTHING_TEST_SEED=${seed})`, () =>
  explore({ seed, commands: 2_000, postgres: true }).then(() => {}))
