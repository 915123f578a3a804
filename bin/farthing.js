#!/usr/bin/env node
// Plain JavaScript: this must also run in a Node that is too old for the rest, to say so. CommonJS: an import of one of
// Node's modules would load all that it can export, 10 ms of a start.
const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { newerNode, startProblem } = require('./installation.js')

/** Starts that Node in place of this one: it has this terminal, and gets the signals that this process gets. */
function startWith(node) {
  const { spawn } = require('node:child_process')
  const child = spawn(node, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' })
  child.on('error', ({ message }) => {
    process.stderr.write(
      `farthing: the Node of the package "node" cannot be started: ${message}. Install Node 26 itself: that one needs glibc\n`,
    )
    process.exit(1)
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', code => process.exit(code ?? 1))
}

function start() {
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
}

const node = newerNode()
if (node) startWith(node)
else start()
