/** The command `jq` for the lines of documents, on a machine that has none. It knows the flags -r and -j. */
import { readFileSync } from 'node:fs'
import jq from 'jq-wasm'

const args = process.argv.slice(2)
const filter = args.find(arg => !arg.startsWith('-')) ?? '.'
const isJoined = args.includes('-j')
const flags = isJoined || args.includes('-r') ? ['-r'] : []
const written = await jq.raw(readFileSync(0, 'utf8'), filter, flags)
process.stdout.write(isJoined ? written : `${written}\n`)
