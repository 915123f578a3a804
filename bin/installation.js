/** Says why this installation cannot run. Plain JavaScript: it also runs in a Node that cannot load TypeScript. */
const { existsSync, realpathSync } = require('node:fs')
const { join } = require('node:path')

/** The oldest Node that works: this version repaired faults in TLS and in http.Agent. */
const NEEDED = [24, 18, 1]
const DEV_LEFT_OUT =
  'because development dependencies were left out (--omit=dev or NODE_ENV=production). Run: npm ci --include=dev'
const SCRIPTS_LEFT_OUT = 'because install scripts were left out (--ignore-scripts). Run:'

const NOT_BUILT =
  'This package was not built: a package from git never is. Install the tarball that npm pack makes in a clone'

const has = path => existsSync(join(__dirname, '..', path))

/** The program of the package `node` that is installed with a clone or beside this package, if this Node is too old. */
function newerNode() {
  if (!isTooOld()) return undefined
  const folder = join(__dirname, has('src') ? '../node_modules/node/bin' : '../../node/bin')
  const found = ['node', 'node.exe'].map(name => join(folder, name)).find(existsSync)
  return found && realpathSync(found) !== realpathSync(process.execPath) ? found : undefined
}

/** Returns one sentence for the user, or undefined if Farthing can start. */
function startProblem() {
  if (!has('src')) {
    if (isTooOld()) return packageNodeProblem()
    return has('dist/farthing.cjs') ? undefined : NOT_BUILT
  }
  if (!has('node_modules')) return 'The packages are not installed. Run: npm ci'
  if (isTooOld()) return cloneNodeProblem()
  if (has('src/platform/web/assets/built')) return undefined
  return `The files that the pages link to are missing, ${
    has('node_modules/sass') ? `${SCRIPTS_LEFT_OUT} npm run build:assets` : DEV_LEFT_OUT
  }`
}

/** Returns one sentence for the user, or undefined if scripts/build-assets.ts can run. */
function buildProblem() {
  if (!has('node_modules/sass'))
    return `The files that the pages link to were not built, ${DEV_LEFT_OUT}`
  return isTooOld() ? cloneNodeProblem() : undefined
}

const packageNodeProblem = () => `${nodeNeeded()}. Run: npm install --save-dev node@26`

function cloneNodeProblem() {
  const missing = `${nodeNeeded()}. The Node that npm start uses is missing, `
  if (!has('node_modules/node')) return missing + DEV_LEFT_OUT
  if (!has('node_modules/node/bin/node') && !has('node_modules/node/bin/node.exe'))
    return `${missing}${SCRIPTS_LEFT_OUT} npm ci --ignore-scripts=false`
  return `${nodeNeeded()}. Use npm, which runs the Node in node_modules`
}

function isTooOld() {
  const version = process.versions.node.split('.').map(part => Number.parseInt(part, 10))
  const place = NEEDED.findIndex((needed, i) => version[i] !== needed)
  return place >= 0 && version[place] < NEEDED[place]
}

const nodeNeeded = () =>
  `Node ${NEEDED.join('.')} or newer is needed, this is ${process.versions.node}`

module.exports = { newerNode, startProblem, buildProblem }

// `npm test` runs this first, with whichever Node there is.
if (require.main === module) {
  const problem = startProblem()
  if (problem) process.stderr.write(`farthing: ${problem}\n`)
  process.exitCode = problem ? 1 : 0
}
