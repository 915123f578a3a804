/**
 * `npm run test:long` runs all jobs, `npm run test:long -- model races` the named ones. `--seed 7` repeats
 * a run, `--scale 0.01` runs a hundredth. A job is a file of this folder that exports `job`. Each run
 * prints what it did: see docs/notes/reliability.md.
 */
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../support/global-setup.ts'

export type JobOptions = {
  /** The seed of all random choices. */
  seed: number
  /** Multiplies the usual size of the run. */
  scale: number
}

export type Job = {
  /** A few words for the table. */
  title: string
  /** Returns what was run and how often; throws if it found a fault. PostgreSQL is running meanwhile. */
  run(options: JobOptions): Promise<string>
}

const FOLDER = new URL('./', import.meta.url)

function jobNames(wanted: string[]): string[] {
  const all = readdirSync(FOLDER)
    .filter(name => name.endsWith('.ts') && name !== basename(import.meta.filename))
    .map(name => basename(name, '.ts'))
    .sort()
  const unknown = wanted.filter(name => !all.includes(name))
  if (unknown.length > 0)
    throw new Error(`no such job: ${unknown.join(', ')} (there are ${all.join(', ')})`)
  return wanted.length > 0 ? wanted : all
}

async function runJob(name: string, options: JobOptions): Promise<boolean> {
  const { job } = (await import(new URL(`${name}.ts`, FOLDER).href)) as { job: Job } // jobs export it
  const start = performance.now()
  const took = () => `${Math.round((performance.now() - start) / 1000)} s`
  console.log(`${name}: ${job.title}, seed ${options.seed}`)
  try {
    const done = await job.run(options)
    console.log(`| ${job.title} | ${done} | ${options.seed} | ${took()} | nothing |`)
    return true
  } catch (error) {
    console.error(error)
    console.log(`| ${job.title} | stopped | ${options.seed} | ${took()} | see above |`)
    return false
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' }, scale: { type: 'string', default: '1' } },
  })
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
  const options = { seed, scale: Number(values.scale) }
  const names = jobNames(positionals)
  await globalSetup()
  try {
    for (const name of names) if (!(await runJob(name, options))) process.exitCode = 1
  } finally {
    await globalTeardown()
  }
}

if (import.meta.main) await main()
