/** Prints the types of the library for its users, who lack the packages with which the service makes them. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resources } from '../src/testing/resources.ts'

type Schema = {
  title?: string
  description?: string
  deprecated?: true
  type?: string | readonly string[]
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: Schema
}

const named: Readonly<Record<string, Schema>> = resources
const names = new Map(Object.entries(named).map(([name, { title }]) => [title, name]))

/** The text of public.d.ts, with the types of resources.ts written out. */
export function printTypes(): string {
  const written = readFileSync('src/testing/public.d.ts', 'utf8')
  const printed = Object.entries(named).map(
    ([name, schema]) => `${commentOf(schema)}export interface ${name} ${fieldsOf(schema)}\n`,
  )
  const own = written.replaceAll(/^(?:import|export) type [^']+ from '\.\/resources\.ts'\n/gm, '')
  const format = ['format', '--stdin-file-path=src/testing/index.d.ts']
  return execFileSync('node_modules/.bin/biome', format, {
    input: `${own}\n${printed.join('\n')}`,
    encoding: 'utf8',
  })
}

const commentOf = ({ description, deprecated }: Schema): string =>
  description ? `/** ${deprecated ? '@deprecated ' : ''}${description} */\n` : ''

const fieldsOf = ({ properties = {}, required = [] }: Schema): string =>
  `{\n${Object.entries(properties)
    .map(([name, schema]) => {
      const mark = required.includes(name) ? '' : '?'
      return `${commentOf(schema)}${name}${mark}: ${typeOf(schema)}\n`
    })
    .join('')}}`

function typeOf(schema: Schema): string {
  const { title, type, items, additionalProperties } = schema
  const name = title && names.get(title)
  if (name) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  const cases = Array.isArray(type) ? type.map(type => ({ ...schema, type })) : schema.anyOf
  if (cases) return cases.map(typeOf).join(' | ')
  if (items) return `(${typeOf(items)})[]`
  if (type !== 'object') return type === 'integer' ? 'number' : String(type ?? 'unknown')
  return additionalProperties ? `Record<string, ${typeOf(additionalProperties)}>` : fieldsOf(schema)
}
