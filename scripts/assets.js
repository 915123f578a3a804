/** Runs as `npm run build:assets`, and after `npm ci`. A clone that cannot build the assets must still install. */
import { buildProblem } from '../bin/installation.js'

const problem = buildProblem()
if (problem) process.stderr.write(`farthing: ${problem}\n`)
else await import('./build-assets.ts')
