/** Runs as `npm run build:assets`, and after `npm ci`, which must succeed even if the assets cannot be built. */
import { buildProblem } from '../bin/installation.js'

const problem = buildProblem()
if (problem) process.stderr.write(`farthing: ${problem}\n`)
else await import('./build-assets.ts')
