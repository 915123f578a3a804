/** K1: a check of the whole record of an account. K2: the rules that run when a request is recorded. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFactWriter } from '../src/tools/explain/check/production.ts'
import type { RawRequest } from '../src/tools/record/row.ts'
import { newFolder, removeFolder } from './folders.ts'
import { connect, load } from './load.ts'
import { type Bench, type Figure, median, round } from './measure.ts'
import { expect, get, journey, newPayment } from './requests.ts'
import { startFarthing } from './servers.ts'

const KEPT = 10_000
/** Journeys of five requests: as many as are recorded at once. */
const JOURNEYS = 40
const CHECKS = 20
/** Milliseconds. */
const MOST_FOR_A_CHECK = 300
const MOST_WAITED = 25

/** Copies the recorded rows, with other identifiers, until there are `KEPT`. */
function fillRecord(file: string): void {
  const database = new DatabaseSync(file)
  database.exec('create temp table recorded as select * from exchanges')
  const row = database.prepare('select count(*) as found from recorded').get()
  const columns =
    'account, message_id, kind, operation, method, status, refused, code, field, body, reference_folded, facts'
  for (let copy = 1; copy < KEPT / Number(row?.found); copy++) {
    const mark = copy.toString(32).padStart(3, '0')
    const other = (id: string) => `substr(${id}, 1, 20) || '${mark}' || substr(${id}, 24)`
    database.exec(`insert into exchanges (exchange_id, payment_id, ${columns})
      select ${other('exchange_id')}, ${other('payment_id')}, ${columns}
      from recorded`)
  }
  database.close()
}

export async function checking({ step, scale }: Bench): Promise<Figure[]> {
  step('K1: checks of 10,000 exchanges')
  const folder = newFolder()
  const file = join(folder, 'check.db')
  const first = await startFarthing({ database: `sqlite:${file}` })
  await load(first.port, 4, { units: JOURNEYS }, journey())
  await first.stop()
  fillRecord(file)
  const { port, stop } = await startFarthing({ database: `sqlite:${file}` })
  const [checks, others] = [await connect(port), await connect(port)]
  const [taken, waited]: [number[], number[]] = [[], []]
  let kept = ''
  for (let done = 0; done < Math.max(2, CHECKS * scale); done++) {
    let isOver = false
    const began = performance.now()
    const check = checks.send(get('/control/check')).then(answer => {
      taken.push(performance.now() - began)
      expect(answer, 200, '"findings"')
      kept = /"kept":(\d+)/.exec(answer.body)?.[1] ?? ''
      isOver = true
    })
    for (; !isOver; ) {
      const sent = performance.now()
      expect(await others.send(get('/healthz')), 200)
      waited.push(performance.now() - sent)
    }
    await check
  }
  checks.close()
  others.close()
  await stop()
  removeFolder(folder)
  const times = figureOf('K1', `a check of ${kept} exchanges`, median(taken), MOST_FOR_A_CHECK)
  const waits = figureOf(
    'K1',
    'the longest that another request waited meanwhile',
    Math.max(...waited),
    MOST_WAITED,
  )
  return [times, waits, rulesWhileRecording(scale)]
}

const figureOf = (figure: string, what: string, value: number, most: number): Figure => ({
  figure,
  what,
  value: round(value),
  unit: 'ms',
  target: `<= ${most} ms`,
  met: value <= most,
})

/** Measures the rules alone. Their bars are those of the record, N1 and N2. */
function rulesWhileRecording(scale: number): Figure {
  const factWriter = createFactWriter(error => {
    throw error
  })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const request: RawRequest = {
    kind: 'api',
    room: 'default',
    behaviour: 'specification',
    operation: 'createPayment',
    method: 'POST',
    url: '/v1/payments',
    rawHeaders: [],
    requestBody: JSON.stringify(newPayment()),
    responseHeaders: [],
    responseBody: '',
    began: 0,
    at: 0,
    ms: 1,
    status: 201,
    ended: 'sent',
    refusal: undefined,
    payment: {
      payment_id: '0'.repeat(26),
      secret: '',
      given: { reference: 'R' },
      events: [{ status: 'created', at: 0 }],
    },
    caused: { events: [0], messages: [] },
  }
  const requests = Math.ceil(200_000 * scale)
  const began = performance.now()
  for (let done = 0; done < requests; done++) factWriter.request(request, headers)
  const micros = ((performance.now() - began) * 1_000) / requests
  const what = 'the rules over one create that is recorded'
  return { figure: 'K2', what, value: round(micros, 2), unit: 'µs', target: '', met: null }
}
