/**
 * `npm run test:long` runs all jobs, `npm run test:long -- model races` these two. `--seed 7` repeats a run, `--scale
 * 0.01` runs a hundredth. A job is a file of this folder that exports `job`, or one of several `jobs`. Each run prints
 * its work: see docs/notes/reliability.md.
 */
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { globalSetup, globalTeardown } from '../support/global-setup.ts'

export type JobOptions = {
  seed: number
  /** Multiplies the usual size of the run. */
  scale: number
}

export type Job = {
  /** A few words for the table. */
  title: string
  /** Returns the work done, with numbers; throws if it found a fault. PostgreSQL is running meanwhile. */
  run(options: JobOptions): Promise<string>
}

export type Jobs = Record<string, Job>

const FOLDER = new URL('./', import.meta.url)

/** Files with several jobs. Other files are loaded when their job runs: some set options of the whole process. */
const SEVERAL = ['crashes', 'generated']

async function findJobs(): Promise<Map<string, () => Promise<Job>>> {
  const load = (file: string) => import(new URL(`${file}.ts`, FOLDER).href)
  const files = readdirSync(FOLDER)
    .map(name => basename(name, '.ts'))
    .filter(name => !name.includes('.') && !['run', ...SEVERAL].includes(name))
  const found = new Map(files.map(file => [file, async (): Promise<Job> => (await load(file)).job]))
  for (const file of SEVERAL)
    for (const [name, job] of Object.entries<Job>((await load(file)).jobs))
      found.set(name, async () => job)
  return found
}

async function runJob(name: string, job: Job, options: JobOptions): Promise<boolean> {
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
  const jobs = await findJobs()
  const all = [...jobs.keys()].sort()
  const unknown = positionals.filter(name => !jobs.has(name))
  if (unknown.length > 0)
    throw new Error(`no such job: ${unknown.join(', ')} (there are ${all.join(', ')})`)
  await globalSetup()
  try {
    for (const name of positionals.length > 0 ? positionals : all) {
      const job = await jobs.get(name)?.()
      if (job && !(await runJob(name, job, options))) process.exitCode = 1
    }
  } finally {
    await globalTeardown()
  }
}

if (import.meta.main) await main()
