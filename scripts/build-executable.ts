/** Makes release/farthing, the executable for this kind of machine. With `--built` it uses dist/ as it is. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { buildExecutable, licences } from './executable.ts'

if (!process.argv.includes('--built')) await import('./build.ts')
mkdirSync('release', { recursive: true })
buildExecutable({ output: 'release/farthing', useCodeCache: true })
writeFileSync('release/licences.txt', licences())
