/** A connection of the library to a service of the tests, which have control and receivers on this machine. */
import { after, before } from 'node:test'
import { connectFarthing } from '../../src/testing/library.ts'
import type { Farthing } from '../../src/testing/public.d.ts'
import { type Service, startService } from '../support/service.ts'

export const KEY = 'key-of-the-library-tests'

export function connected(): () => Farthing {
  let service: Service
  let farthing: Farthing
  before(async () => {
    const env = { FARTHING_API_KEY: KEY, FARTHING_CALLBACK_HOSTS: '127.0.0.1' }
    service = await startService('sqlite', { control: true, env })
    farthing = await connectFarthing({ url: service.baseUrl, key: KEY })
  })
  after(() => service.stop())
  return () => farthing
}
