/**
 * `npm run compare -- FILE` compares GOV.UK Pay's OpenAPI document, as JSON or YAML, with Farthing's of the behaviour
 * govuk-pay. Prints the differences that scripts/known-differences.yaml lacks, and ends with 1 if there are any.
 */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { readConfig } from '../src/app/config.ts'
import { startFarthing } from '../src/app/start.ts'

/** A document that somebody else wrote may have any shape. */
type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Fields = Record<string, Json>

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** The most levels of objects below a body: a schema may contain itself. */
const DEEPEST = 8

const fieldsOf = (value: Json | undefined): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** The beginning of the facts about all error bodies: most operations have the same body. */
const ERROR = 'error '

/**
 * The facts of a document, one line each: `GET /v1/payments query reference`. Names of path parameters do not count, and
 * the bodies of errors count once.
 */
function factsOf(document: Json): Set<string> {
  const facts = new Set<string>()
  const root = fieldsOf(document)

  function resolved(value: Json | undefined): Fields {
    const { $ref } = fieldsOf(value)
    if (typeof $ref !== 'string') return fieldsOf(value)
    const [, ...names] = $ref.split('/')
    return fieldsOf(names.reduce<Json>((at, name) => fieldsOf(at)[name] ?? null, root))
  }

  /** Each field of a body by its path, such as `state.status`, with the values that a schema lists for it. */
  function fieldsIn(value: Json | undefined, path: string, depth = 0): Listed {
    const schema = resolved(value)
    if (depth > DEEPEST) return new Map()
    const separator = path.endsWith(' ') ? '' : '.'
    const properties = Object.entries(fieldsOf(schema.properties)).map(([name, property]) => {
      const place = `${path}${separator}${name}`
      return either(new Map([[place, undefined]]), fieldsIn(property, place, depth + 1))
    })
    const listed = listOf(schema.enum).filter(each => each !== null)
    const own: Listed =
      listed.length > 0 ? new Map([[path, new Set(listed.map(String))]]) : new Map()
    const inside = (parts: Json | undefined) =>
      listOf(parts).map(part => fieldsIn(part, path, depth + 1))
    const choices = [...inside(schema.anyOf), ...inside(schema.oneOf)].reduce(either, new Map())
    return [
      own,
      choices,
      fieldsIn(schema.items ?? null, path, depth + 1),
      ...properties,
      ...inside(schema.allOf),
    ].reduce(both, new Map())
  }

  function addBodies(holder: Fields, path: string): void {
    const [media] = Object.values(fieldsOf(holder.content))
    for (const [place, values] of fieldsIn(fieldsOf(media).schema, path)) {
      if (place !== path) facts.add(place)
      for (const value of values ?? []) facts.add(`${place} is ${value}`)
    }
  }

  for (const [path, item] of Object.entries(fieldsOf(root.paths)))
    for (const method of METHODS) {
      const operation = fieldsOf(fieldsOf(item)[method])
      if (Object.keys(operation).length === 0) continue
      const name = `${method.toUpperCase()} ${path.replaceAll(/\{[^}]*\}/g, '{}')}`
      facts.add(name)
      const parameters = [...listOf(fieldsOf(item).parameters), ...listOf(operation.parameters)]
      for (const parameter of parameters.map(resolved))
        if (parameter.in === 'query' || parameter.in === 'header')
          facts.add(`${name} ${parameter.in} ${String(parameter.name).toLowerCase()}`)
      addBodies(resolved(operation.requestBody), `${name} request `)
      for (const [status, response] of Object.entries(fieldsOf(operation.responses))) {
        facts.add(`${name} ${status}`)
        addBodies(resolved(response), Number(status) >= 400 ? ERROR : `${name} ${status} `)
      }
    }
  return facts
}

/** The values that the schema lists for each place; undefined where all are allowed. */
type Listed = Map<string, ReadonlySet<string> | undefined>

const merge =
  (join: (one: ReadonlySet<string>, other: ReadonlySet<string>) => ReadonlySet<string>) =>
  (one: Listed, other: Listed): Listed => {
    const merged: Listed = new Map(one)
    for (const [place, values] of other) {
      const before = merged.get(place)
      merged.set(place, before && values ? join(before, values) : (before ?? values))
    }
    return merged
  }

/** The values that two schemas of `allOf` allow: of two lists the values in both. */
const both = merge((one, other) => one.intersection(other))
/** The values that two schemas of `anyOf` allow: of two lists all values. */
const either = merge((one, other) => one.union(other))

/** Farthing's document, without the pages and documents that GOV.UK Pay does not have under /v1. */
async function readOwn(): Promise<Json> {
  const config = readConfig({
    PORT: '0',
    DATABASE_URL: 'sqlite::memory:',
    FARTHING_BEHAVIOUR: 'govuk-pay',
  })
  const farthing = await startFarthing({ config, backgroundWork: false })
  const document: Json = JSON.parse(await (await fetch(`${farthing.url}/openapi.json`)).text())
  await farthing.close()
  const paths = Object.entries(fieldsOf(fieldsOf(document).paths))
  return {
    ...fieldsOf(document),
    paths: Object.fromEntries(paths.filter(([path]) => path.startsWith('/v1'))),
  }
}

/** A known difference: facts that only `only` has, and that begin with `fact` or match it, with any text for each *. */
type Known = { fact: string; only: 'GOV.UK Pay' | 'Farthing'; reason: string }

function isAt(known: Known, fact: string): boolean {
  const [first = '', ...parts] = known.fact.split('*')
  if (parts.length === 0) return fact.startsWith(first)
  return new RegExp(`^${[first, ...parts].map(RegExp.escape).join('.*')}$`).test(fact)
}

/** A line for each difference that is not known, and for each known difference that no longer exists. */
export function compare(theirs: Json, ours: Json, known: Known[]): string[] {
  const [their, own] = [factsOf(theirs), factsOf(ours)]
  const used = new Set<Known>()
  const unknown = (facts: Set<string>, others: Set<string>, only: Known['only']) =>
    [...facts]
      .filter(fact => !others.has(fact) && !isInMissing(fact, facts, others))
      .filter(fact => only !== 'Farthing' || !isValueOfOpen(fact, others))
      .filter(fact => {
        const found = known.find(each => each.only === only && isAt(each, fact))
        if (found) used.add(found)
        return !found
      })
      .map(fact => `only ${only}: ${fact}`)
  const lines = [...unknown(their, own, 'GOV.UK Pay'), ...unknown(own, their, 'Farthing')]
  const gone = known
    .filter(each => !used.has(each))
    .map(
      ({ fact, only }) =>
        `no longer different, remove it from the known ones: only ${only}: ${fact}`,
    )
  return [...lines, ...gone]
}

/** A value of a field for which the other document lists no values, so it may have this value too. */
function isValueOfOpen(fact: string, others: Set<string>): boolean {
  const [place = '', value] = fact.split(/(?<= is )/)
  return value !== undefined && ![...others].some(other => other.startsWith(place))
}

/** Whether the fact is part of an operation, a response or an object that the other document lacks as a whole. */
const isInMissing = (fact: string, facts: Set<string>, others: Set<string>): boolean =>
  [...fact.matchAll(/[ .]/g)]
    .map(({ index }) => fact.slice(0, index))
    .some(whole => facts.has(whole) && !others.has(whole))

/** Ends the process with 2 if the file cannot be read or is not a description of an API. */
function readDocument(file: string): Json {
  try {
    const document: Json = parse(readFileSync(file, 'utf8'))
    if (Object.keys(fieldsOf(fieldsOf(document).paths)).length > 0) return document
    process.stderr.write(`${file} describes no path: is it an OpenAPI document?\n`)
  } catch (error) {
    process.stderr.write(
      `${file} cannot be read: ${error instanceof Error ? error.message : error}\n`,
    )
  }
  process.exit(2)
}

const USAGE = `Usage: npm run compare -- FILE

Compares GOV.UK Pay's OpenAPI document, as JSON or YAML, with Farthing's of the
behaviour govuk-pay. Prints what only one of them has, except for the differences of scripts/known-differences.yaml.

Exit codes: 0 no other difference, 1 there are some, 2 the file cannot be read.
`

if (import.meta.main) {
  const [file, ...more] = process.argv.slice(2)
  const asksForHelp = file === '--help' || file === '-h'
  if (asksForHelp || file === undefined || file.startsWith('-') || more.length > 0) {
    process[asksForHelp ? 'stdout' : 'stderr'].write(USAGE)
    process.exit(asksForHelp ? 0 : 2)
  }
  const theirs = readDocument(file)
  const known: Known[] = parse(
    readFileSync(new URL('known-differences.yaml', import.meta.url), 'utf8'),
  )
  const differences = compare(theirs, await readOwn(), known)
  for (const line of differences) process.stdout.write(`${line}\n`)
  if (differences.length > 0)
    process.stderr.write(`${differences.length} differences beside ${known.length} known ones\n`)
  process.exitCode = differences.length > 0 ? 1 : 0
}
