// In vitest.config.ts: test: { globalSetup: './vitest.setup.ts' }
import { startFarthing } from 'farthing/testing'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    farthing: { url: string; key: string }
  }
}

export default async function setup(project: TestProject) {
  const farthing = await startFarthing({ behaviour: 'govuk-pay' })
  project.provide('farthing', { url: farthing.url, key: farthing.key })
  return () => farthing.stop()
}
