import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../support/client.ts'
import { runHere } from '../support/command.ts'
import { activeAgreement } from '../support/new-payment.ts'
import { startService } from '../support/service.ts'

const FARTHING_API_KEY = 'key-of-the-command-line'

test('farthing pay makes what no user can do, with control: a charge that stays started, or that fails', async t => {
  const start = async (control: boolean) => {
    const env = { FARTHING_API_KEY, FARTHING_BEHAVIOUR: 'govuk-pay' }
    const service = await startService('sqlite', { env, control })
    t.after(() => service.stop())
    return service.baseUrl
  }
  const [off, on] = await Promise.all([start(false), start(true)])
  const pay = (url: string, line: string) =>
    runHere({ args: ['pay', ...line.split(' ')], env: { FARTHING_URL: url, FARTHING_API_KEY } })
  const agreement = `--agreement ${await activeAgreement(createClient([on], FARTHING_API_KEY, 'govuk-pay'))}`
  const refused = await pay(off, `error ${agreement}`)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /The control API is off: FARTHING_CONTROL=true/)
  const state = async (line: string) => {
    const { code, stdout } = await pay(on, `${line} --json`)
    assert.equal(code, 0, line)
    return JSON.parse(stdout).payment.state
  }
  assert.equal((await state(`${agreement} --hold`)).status, 'started')
  assert.equal((await state(`error ${agreement}`)).code, 'P0050')
  const { code, can_retry } = await state(`declined ${agreement} --cannot-retry`)
  assert.deepEqual([code, can_retry], ['P0010', false])
})
