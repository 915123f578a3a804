import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { newPayment } from '../../../src/pay/payments/request.ts'
import type { Client } from '../../support/client.ts'
import {
  activeAgreement,
  agreementParts,
  assertAnswer,
  DETAILS,
  type Row as Fault,
  HEADER,
  motoParts,
  ofLength,
  type Parts,
  webParts,
} from '../../support/new-payment.ts'
import { onOneDatabase } from '../../support/service.ts'

const UNKNOWN = '"06g5petm8gpatdosqb0u8c1mv7"'
const ADDRESS = `${DETAILS}.billing_address`
const ABSENT = undefined

/** Wrong types, which every mode can have, in the order in which they are checked. */
const types: Fault[] = [
  [{ amount: ABSENT }, '400 P0101 amount'],
  [{ reference: 'null' }, '400 P0101 reference'],
  [{ description: '"a|b"' }, '400 P0102 description'],
  [{ return_url: '5' }, '400 P0102 return_url'],
  [{ moto: '"true"' }, '400 P0102 moto'],
  [{ set_up_agreement: '5' }, '400 P0102 set_up_agreement'],
]
const moreTypes: Fault[] = [
  [{ agreement_payment_type: '""' }, '400 P0102 agreement_payment_type'],
  [{ language: '"fr"' }, '422 P0102 language'],
  [{ delayed_capture: 'null' }, '400 P0102 delayed_capture'],
  [{ email: '{}' }, '400 P0102 email'],
  [{ [`${DETAILS}.cardholder_name`]: '5' }, '400 P0102 cardholder_name'],
  [{ [`${ADDRESS}.line1`]: '5' }, '400 P0102 line1'],
  [{ [`${ADDRESS}.line2`]: '5' }, '400 P0102 line2'],
  [{ [`${ADDRESS}.city`]: '5' }, '400 P0102 city'],
  [{ [`${ADDRESS}.postcode`]: '5' }, '400 P0102 postcode'],
  [{ [`${ADDRESS}.country`]: '5' }, '400 P0102 country'],
  [{ metadata: '[]' }, '422 P0102 metadata'],
]
/** Exceeded limits, which are checked after the types. */
const limits: Fault[] = [
  [{ amount: '-1' }, '422 P0102 amount'],
  [{ reference: ofLength(256) }, '422 P0102 reference'],
  [{ description: '"\\u0000"' }, '422 P0102 description'],
  [{ email: ofLength(255) }, '422 P0102 email'],
  [{ return_url: ofLength(2001) }, '422 P0102 return_url'],
  [{ set_up_agreement: '"short"' }, '422 P0102 set_up_agreement'],
]
const moreLimits: Fault[] = [
  [{ [`${DETAILS}.cardholder_name`]: ofLength(256) }, '422 P0102 cardholder_name'],
  [{ [`${ADDRESS}.line1`]: ofLength(256) }, '422 P0102 line1'],
  [{ [`${ADDRESS}.line2`]: ofLength(256) }, '422 P0102 line2'],
  [{ [`${ADDRESS}.city`]: ofLength(256) }, '422 P0102 city'],
  [{ [`${ADDRESS}.postcode`]: ofLength(26) }, '422 P0102 postcode'],
  [{ metadata: '{"":1}' }, '422 P0102 metadata'],
  [{ [HEADER]: 'a_b' }, `422 P0102 ${HEADER}`],
]
const used: Fault = [{ [HEADER]: 'used-before' }, `409 P0191 ${HEADER}`]

const web: Fault[] = [
  ...types,
  [{ authorisation_mode: 'null' }, '400 P0102 authorisation_mode'],
  [{ agreement_id: 'null' }, '400 P0104 agreement_id'],
  ...moreTypes,
  ...limits,
  ...moreLimits,
  [{ return_url: ABSENT }, '400 P0101 return_url'],
  [{ return_url: '"https://"' }, '422 P0102 return_url'],
  [{ return_url: '"http://example.org/"' }, '422 P0102 return_url'],
  [{ set_up_agreement: UNKNOWN }, '400 P0103 set_up_agreement'],
  used,
]

const moto: Fault[] = [
  ...types,
  [{ agreement_id: UNKNOWN }, '400 P0104 agreement_id'],
  ...moreTypes,
  ...limits,
  ...moreLimits,
  [{ return_url: '"http://example.org/"' }, '400 P0104 return_url'],
  [{ set_up_agreement: UNKNOWN }, '400 P0104 set_up_agreement'],
  used,
]

const agreement: Fault[] = [
  ...types,
  [{ agreement_id: '" "' }, '400 P0101 agreement_id'],
  ...moreTypes,
  ...limits,
  [{ agreement_id: '"short"' }, '422 P0102 agreement_id'],
  ...moreLimits,
  [{ return_url: '"http://example.org/"' }, '400 P0104 return_url'],
  [{ set_up_agreement: UNKNOWN }, '400 P0104 set_up_agreement'],
  [{ moto: 'true' }, '400 P0104 moto'],
  [{ email: '"a"' }, '400 P0104 email'],
  [{ [DETAILS]: '{"cardholder_name":"A"}' }, `400 P0104 ${DETAILS}`],
  [{ agreement_id: UNKNOWN }, '400 P0102 agreement_id'],
  used,
]

test('every field of a new payment has a fault here', () => {
  const paths = [...web, ...moto, ...agreement].flatMap(([parts]) => Object.keys(parts))
  const names = new Set(paths.map(path => path.split('.')[0]))
  const missing = Object.keys(newPayment.properties).filter(name => !names.has(name))
  assert.deepEqual(missing, [])
})

/** True when one request cannot have both faults, because they concern the same value or one value contains the other. */
function exclude([one]: Fault, [another]: Fault): boolean {
  return Object.keys(one).some(a =>
    Object.keys(another).some(b => a === b || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)),
  )
}

onOneDatabase('Payments: order of checks of POST /v1/payments', service => {
  let api: Client
  let agreement_id = ''
  before(async () => {
    api = await service().newAccount()
    agreement_id = await activeAgreement(api)
    await assertAnswer(api, { ...webParts, [HEADER]: 'used-before' }, '201')
  })

  /** Takes the first of faults that exclude one another. */
  function together(faults: Fault[]): Parts {
    const kept: Fault[] = []
    for (const fault of faults) if (!kept.some(each => exclude(each, fault))) kept.push(fault)
    return Object.assign({}, ...kept.map(([parts]) => parts))
  }

  /** Each fault is reported alone, and before all faults that follow it. */
  async function walk(base: Parts, faults: Fault[]): Promise<void> {
    for (const [i, first] of faults.entries()) {
      const later = faults.slice(i + 1).filter(fault => !exclude(first, fault))
      for (const others of [{}, together(later), together(later.reverse())])
        await assertAnswer(api, { ...base, ...others, ...first[0] }, first[1])
    }
  }

  test('in web mode, the first of several faults is reported', () => walk(webParts, web))
  test('in moto_api mode, the first of several faults is reported', () => walk(motoParts, moto))
  test('in agreement mode, the first of several faults is reported', () =>
    walk(agreementParts(agreement_id), agreement))

  // In the walks other faults of return_url follow a fault, because one request cannot have two.
  test('a return_url without a host is reported after all that stands before it', async () => {
    const at = web.findIndex(([parts]) => parts.return_url === '"https://"')
    const [hostless, expected] = web[at] ?? assert.fail('no such fault')
    for (const first of web.slice(0, at).filter(fault => !exclude(fault, [hostless, expected])))
      await assertAnswer(api, { ...webParts, ...hostless, ...first[0] }, first[1])
    await assertAnswer(api, { ...webParts, ...hostless }, expected)
  })
})
