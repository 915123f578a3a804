#!/usr/bin/env node
// Plain JavaScript, so that a Node too old for the rest can say so.
import { existsSync } from 'node:fs'
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `farthing: Node 24.15 or newer is needed, this is ${process.versions.node} (in a clone, npm start brings its own)\n`,
  )
  process.exit(1)
}
// The next start finds everything compiled; the variable is for the thread that writes to SQLite.
process.env.NODE_COMPILE_CACHE ??= module.enableCompileCache().directory ?? ''
const built = new URL('../dist/cli/main.js', import.meta.url)
const source = new URL('../src/cli/main.ts', import.meta.url)
await import((existsSync(source) ? source : built).href)
