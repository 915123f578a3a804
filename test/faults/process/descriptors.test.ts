import { test } from 'node:test'
import { exhaustDescriptors } from './descriptors.ts'

test('What could not be read while all file descriptors were in use is served at the next request', async () => {
  await exhaustDescriptors(128, false)
})

test('What could not be loaded from the sources while all file descriptors were in use is served at the next request', async () => {
  await exhaustDescriptors(128, true)
})
