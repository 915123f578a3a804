/**
 * The long runs: `npm run test:long` runs them all, `npm run test:long -- model races` those named,
 * `--seed 7` the same again, `--scale 0.01` a hundredth of each to try them out. A job is a file of
 * this folder that exports `job`; what each run did is printed as a row for docs/notes/reliability.md.
 */
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../support/global-setup.ts'

export type JobOptions = {
  /** What the run's choices derive from, as far as it makes choices. */
  seed: number
  /** By how much to multiply the usual size of the run. */
  scale: number
}

export type Job = {
  /** What is run, in a few words. */
  title: string
  /**
   * Throws when something was found. Answers what was run and how often. PostgreSQL is running, and
   * `createPostgresDatabase` of test/support makes databases in it.
   */
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
