#!/usr/bin/env node
// Plain JavaScript: a Node that is too old for the rest must be able to say so.
import { existsSync } from 'node:fs'
import module from 'node:module'
import { startProblem } from './installation.js'

const problem = startProblem()
if (problem) {
  process.stderr.write(`farthing: ${problem}\n`)
  process.exit(1)
}
// Keeps compiled code for the next start. The variable passes the folder to the thread that writes to SQLite.
process.env.NODE_COMPILE_CACHE ??= module.enableCompileCache().directory ?? ''
const source = new URL('../src/cli/main.ts', import.meta.url)
// Required, because an import would first search the whole bundle for the names that it exports.
if (existsSync(source)) await import(source.href)
else module.createRequire(import.meta.url)('../dist/farthing.cjs')
