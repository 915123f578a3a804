// In jest.config.cjs: globalSetup: './jest.setup.cjs', globalTeardown: './jest.teardown.cjs'
const { startFarthing } = require('farthing/testing')

module.exports = async () => {
  const farthing = await startFarthing({ behaviour: 'govuk-pay' })
  Object.assign(process.env, farthing.env)
  globalThis.farthing = farthing
}
