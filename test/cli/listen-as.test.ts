import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runHere } from '../support/command.ts'
import { startCommand } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

test('farthing listen brings messages as GOV.UK Pay sends them, until it is started without that', async t => {
  const FARTHING_API_KEY = 'key-of-the-listener'
  const service = await startService('sqlite', { control: true, env: { FARTHING_API_KEY } })
  t.after(() => service.stop())
  const receiver = await startReceiver({ plain: true })
  t.after(() => receiver.close())
  const env = { FARTHING_API_KEY, FARTHING_URL: service.baseUrl }
  const types: string[] = []
  for (const as of [['--as', 'govuk-pay'], []]) {
    const before = receiver.requests.length
    const args = ['listen', '--name', 'shaped', '--forward-to', receiver.url, ...as]
    const listen = await startCommand({ args, env }, 'Ready')
    await runHere({ args: ['pay', 'declined'], env })
    await listen.kill()
    types.push(JSON.parse(receiver.requests[before]?.body ?? '{}').resource_type)
  }
  assert.deepEqual(types, ['PAYMENT', 'payment'])
})
