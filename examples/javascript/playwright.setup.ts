// In playwright.config.ts: globalSetup: './playwright.setup.ts'
import { startFarthing } from 'farthing/testing'

export default async function setup() {
  const farthing = await startFarthing({ behaviour: 'govuk-pay' })
  Object.assign(process.env, farthing.env)
  return () => farthing.stop()
}
