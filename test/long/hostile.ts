import { attack, sendNowhere } from '../faults/hostile.ts'
import { attackBytes } from '../faults/hostile-bytes.ts'
import { databaseKinds, startService } from '../support/service.ts'
import type { Job } from './run.ts'

/** Per kind of database. */
const REQUESTS = 40_000
const DAMAGED = 60_000

export const job: Job = {
  title: 'hostile requests: no 5xx, every error in its shape, invariants hold',
  async run({ seed, scale }) {
    for (const kind of databaseKinds) {
      const service = await startService(kind, { send: sendNowhere })
      try {
        await attack(service, { seed, requests: Math.ceil(REQUESTS * scale) })
        const { key = '' } = await service.newAccount()
        await attackBytes(service, { seed, requests: Math.ceil(DAMAGED * scale), key })
      } finally {
        await service.stop()
      }
      console.log(kind)
    }
    const times = `${databaseKinds.length} x ${REQUESTS * scale}`
    return `${times} generated, ${databaseKinds.length} x ${DAMAGED * scale} damaged bytes`
  },
}
