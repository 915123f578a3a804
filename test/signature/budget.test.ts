import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  BODY_BYTES,
  EXPLAINED_DEPTH,
  LOOKED_UP_TEXTS,
  PAIR_BYTES,
  SLICE_MS,
  VARIANT_BYTES,
} from '../../src/core/budgets.ts'
import { inSlices } from '../../src/core/turns.ts'
import { findMistake } from '../../src/tools/explain/check/find-mistake.ts'
import { analyse } from '../../src/tools/explain/signature/analyse.ts'
import { bodyProblem, bodyVariants } from '../../src/tools/explain/signature/bodies.ts'
import { rewritten } from '../../src/tools/explain/signature/digests.ts'
import { keyVariants } from '../../src/tools/explain/signature/keys.ts'
import { knownSignatures } from '../../src/tools/explain/signature/known-signatures.ts'
import type { Exchange } from '../../src/tools/record/exchange.ts'

const nested = (depth: number, items = 1) =>
  Buffer.from(`${'['.repeat(depth)}${'0,'.repeat(items - 1)}0${']'.repeat(depth)}`)

/** Printers with indents would make 8 MB of this body. */
const DEEP = nested(EXPLAINED_DEPTH, 32_000)

test('the variants of a body have 4 MB together at most, and those that would have more are left out', () => {
  for (const body of [DEEP, nested(1, 32_000), Buffer.from(JSON.stringify('<ü"'.repeat(12_000)))]) {
    assert.equal(bodyProblem(body), undefined)
    const variants = [...bodyVariants(body)]
    const bytes = variants.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    assert.ok(bytes <= VARIANT_BYTES, `${bytes}`)
    assert.ok(bytes > VARIANT_BYTES / 4, 'the bodies come near it')
    const isPartial = variants.some(({ value }) => value === undefined)
    assert.equal(isPartial, body === DEEP)
  }
})

test('each variant is made only when all before it are hashed', async () => {
  const log: string[] = []
  function* logged() {
    for (const variant of bodyVariants(nested(3))) {
      log.push('made')
      yield variant
    }
  }
  const keys = keyVariants(Buffer.from('a key'))
  await knownSignatures(logged, keys, async () => void log.push('hashed'))
  assert.ok(log.includes('made'))
  for (const [i, step] of log.entries())
    if (step === 'made' && log[i + 1] === 'made')
      assert.fail(`two were made one after the other: ${i}`)
})

test('wrong bodies are hashed with wrong keys up to 16 MB, and the answer says that not all were', async () => {
  let hashed = 0
  const body = nested(1, 32_000)
  const keys = keyVariants(Buffer.from('a key'))
  const known = await knownSignatures(
    () => bodyVariants(body),
    keys,
    async () => {},
  )
  assert.equal(known.isPartial(), false)
  await known.find('f'.repeat(64), async () => {
    hashed += 1
  })
  assert.equal(known.isPartial(), true)
  // Every variant of this body has its size or more, less a few words.
  assert.ok(hashed * body.length < PAIR_BYTES + 200 * body.length, `${hashed}`)
  const { sentence } = await analyse({ header: 'f'.repeat(64), key: 'a key', body })
  assert.match(sentence, /Not all combinations of mistakes were tried, because the body is large\./)
})

test('a body larger than those of the API, or nested deeper than 64, is not explained', () => {
  const word = (bytes: number) => Buffer.from(`"${'x'.repeat(bytes - 2)}"`)
  for (const body of [nested(EXPLAINED_DEPTH), word(BODY_BYTES), Buffer.from('['.repeat(1_000))])
    assert.equal(bodyProblem(body), undefined)
  for (const [body, says] of [
    [nested(EXPLAINED_DEPTH + 1), /^The body is nested deeper than 64 levels: /],
    [word(BODY_BYTES + 1), /^The body has 65,537 bytes: at most 65,536 are compared, /],
  ] as const) {
    assert.match(bodyProblem(body) ?? '', says)
    assert.equal([...bodyVariants(body)].length, 1, 'only the body as it is')
  }
})

// test/contract/http/search-budget.test.ts tests the slices.
test('of long work in slices one piece runs at a time, also after one that failed', async t => {
  let now = 0
  t.mock.method(performance, 'now', () => ++now)
  const order: string[] = []
  const work = (name: string) =>
    inSlices(async pause => {
      for (let step = 0; step < 20 * SLICE_MS; step++) {
        order.push(name)
        await pause()
      }
    })
  await Promise.all([work('first'), work('second')])
  assert.deepEqual(order, order.toSorted())
  const failing = inSlices(() => Promise.reject(new Error('a fault')))
  await assert.rejects(failing, /a fault/)
  assert.equal(await inSlices(async () => 'the next one'), 'the next one')
})

test('a signature with much white space in it is looked up in a time that grows with its length only', () => {
  const [upper] = rewritten(`a${' '.repeat(BODY_BYTES)}b`)
  assert.equal(upper?.hex.length, BODY_BYTES + 2)
})

test('of the texts in an answer of a receiver 8 are looked up', async () => {
  const text = (i: number) => createHash('sha256').update(`${i}`).digest('hex')
  const all = Array.from({ length: 200 }, (_, i) => text(i))
  const texts = all.join(' ')
  const answer = {
    exchange_id: 'the attempt',
    status: 401,
    request_headers: {},
    response_headers: { 'X-Seen': texts },
    response_body: { text: texts },
  } as unknown as Exchange
  const looked: string[] = []
  await findMistake(
    {
      truth: { body: Buffer.from('{}'), key: Buffer.from('a key'), owner: 'Ledger' },
      answer,
      otherKeys: 0,
      right: text(-1),
      random: text(-2),
      wrong: [],
      find: async each => void looked.push(each),
    },
    { post: async () => ({ ...answer, status: 404, result: '404' }), mayPost: () => false },
  )
  assert.deepEqual(looked, all.slice(0, LOOKED_UP_TEXTS))
})
