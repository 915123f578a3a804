/** The library's wait for all messages, across a kill and a restart of the service. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { connectFarthing } from '../../src/testing/library.ts'
import { KEY, settings } from '../faults/process/serve.ts'
import { tempDatabase } from '../support/folders.ts'
import { startProcess } from '../support/process.ts'
import type { Job } from './run.ts'

export const job: Job = {
  title: 'A wait for all messages, across a kill and a restart of the service',
  async run() {
    const control = { FARTHING_CONTROL: 'true', FARTHING_CALLBACK_HOSTS: '127.0.0.1' }
    const env = settings(tempDatabase(), control)
    const first = await startProcess({ env })
    const farthing = await connectFarthing({ url: first.baseUrl, key: KEY })
    const receiver = await farthing.receive({ answer: { status: 200, delay: '30s' } })
    const paying = assert.rejects(farthing.payment({ scenario: 'declined' }))
    while (receiver.all().length === 0) await pause(10)
    await assert.rejects(farthing.settled({ timeout: 20 }), /card_payment_failed of .+: PENDING/)
    await first.kill()
    await paying
    receiver.answer(200)
    const second = await startProcess({ env: { ...env, PORT: new URL(first.baseUrl).port } })
    try {
      const began = performance.now()
      await farthing.settled({ timeout: '60s' })
      const took = Math.round((performance.now() - began) / 1_000)
      const ids = receiver.all().map(({ message_id }) => message_id)
      assert.equal(new Set(ids).size, 1, 'the same message arrived again')
      assert.equal(ids.length, 2)
      return `the message was sent again and the wait ended ${took} s after the restart`
    } finally {
      await farthing.stop()
      await second.kill()
    }
  },
}
