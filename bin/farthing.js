#!/usr/bin/env node
// Plain JavaScript: a Node that is too old for the rest must be able to say so. CommonJS: an import of one of Node's
// modules would load all that it can export, 10 ms of a start.
const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { startProblem } = require('./installation.js')

const problem = startProblem()
if (problem) {
  process.stderr.write(`farthing: ${problem}\n`)
  process.exit(1)
}
// Keeps compiled code for the next start. The variable passes the folder to the thread that writes to SQLite.
process.env.NODE_COMPILE_CACHE ??= enableCompileCache().directory ?? ''
const source = join(__dirname, '../src/cli/main.ts')
if (existsSync(source)) void import(pathToFileURL(source).href)
else require('../dist/farthing.cjs')
