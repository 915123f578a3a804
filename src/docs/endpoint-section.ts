/** One endpoint on the documentation page. */

import type {
  Answer,
  Content,
  Operation as Described,
  Parameter,
  Schema,
} from '../http/describe.ts'
import { type Html, html, type Part } from '../web/html.ts'
import { curl, examplesIn, pretty } from './example-request.ts'
import { field, fieldTable, refName, typeOf } from './object-section.ts'
import { blocks, code, inline, listing, table } from './text.ts'

export type Operation = Described & { operationId: string }

/** The shared schemas of the document, by name. */
export type Objects = Record<string, Schema>

export function endpointSection(
  method: string,
  path: string,
  operation: Operation,
  objects: Objects,
): Html {
  const { requestBody, responses } = operation
  return html`${head(operation, method, code(path))}
${details(operation, objects)}
<h4 class="govuk-heading-s">Answers</h4>
${answerTable(`${operation.summary}: answers`, responses)}
<h4 class="govuk-heading-s">Example</h4>
${listing(curl(method, path, operation))}
${exampleAnswers(responses)}
${examplesIn(requestBody?.content)
  .slice(1)
  .map(({ summary, value }) => folded(`Another body: ${summary}`, value))}
</section>
`
}

/** What is posted to a webhook. */
export function messageSection(operation: Operation, objects: Objects): Html {
  return html`${head(operation, 'post', 'your callback_url')}
${details(operation, objects)}
<h4 class="govuk-heading-s">Example</h4>
${examplesIn(operation.requestBody?.content).map(({ value }) => listing(pretty(value)))}
</section>
`
}

const head = ({ operationId, summary, description }: Operation, method: string, address: Part) =>
  html`<section class="docs-endpoint">
<h3 class="govuk-heading-m" id="${operationId}">${summary}</h3>
<p class="docs-address"><strong class="docs-method">${method.toUpperCase()}</strong> ${address}</p>
${description !== undefined && blocks(description)}`

const details = ({ summary, parameters = [], requestBody }: Operation, objects: Objects): Html =>
  html`${parameters.length > 0 && parameterTable(summary, parameters)}${requestBody && bodySection(requestBody, objects)}`

function parameterTable(summary: string, parameters: Parameter[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    field(name, `${place}${required ? ', required' : ''}`, schema),
    inline(description),
  ])
  return html`<h4 class="govuk-heading-s">Parameters</h4>
${table('fields', `${summary}: parameters`, ['Parameter', 'Description'], rows)}`
}

function bodySection(
  { content, description }: NonNullable<Operation['requestBody']>,
  objects: Objects,
): Html {
  const types = Object.keys(content).map((type, n) => html`${n > 0 && ' or '}${code(type)}`)
  const name = refName(Object.values(content)[0]?.schema ?? {}) ?? ''
  return html`<h4 class="govuk-heading-s" id="${name}">Body: ${name}</h4>
<p class="govuk-body">${description !== undefined && `${description}. `}Content-Type ${types}.</p>
${fieldTable(name, objects[name] ?? {}, 'required')}`
}

function answerTable(caption: string, responses: Record<string, Answer>): Html {
  const entries = Object.entries(responses)
  const shared = entries.filter(([, answer]) => '$ref' in answer).map(([status]) => status)
  const rows: Part[][] = entries.flatMap(([status, answer]) =>
    '$ref' in answer ? [] : [[status, whenOf(answer)]],
  )
  const everywhere: Part[] = [
    shared.join(', '),
    html`As everywhere: see <a class="govuk-link" href="#errors">errors</a>`,
  ]
  const all = shared.length > 0 ? [...rows, everywhere] : rows
  return table('answers', caption, ['Status', 'When'], all)
}

function whenOf({
  description,
  headers = {},
  content = {},
}: Exclude<Answer, { $ref: string }>): Html {
  const isError = Object.values(content).some(({ schema }) => 'allOf' in schema)
  return html`${description.startsWith('- ') ? blocks(description) : html`<p>${inline(description)}</p>\n`}${
    !isError && contentLine(content)
  }${Object.entries(headers).map(
    ([name, header]) => html`<p>${code(name)}: ${inline(header.description)}</p>\n`,
  )}`
}

function contentLine(content: Content): Html | false {
  const kinds = Object.entries(content).map(([type, { schema }]) =>
    refName(schema) === undefined ? code(type) : typeOf(schema),
  )
  return (
    kinds.length > 0 &&
    html`<p>Body: ${kinds.map((kind, n) => html`${n > 0 && ', '}${kind}`)}</p>\n`
  )
}

function exampleAnswers(responses: Record<string, Answer>): Html {
  const examples = Object.entries(responses).flatMap(([status, answer]) =>
    status.startsWith('2') && 'content' in answer
      ? examplesIn(answer.content).map(example => ({ status, ...example }))
      : [],
  )
  const [first, ...others] = examples
  return html`${
    first &&
    html`<p class="govuk-body">Answer ${first.status}: ${first.summary}</p>
${listing(pretty(first.value))}`
  }${others.map(({ status, summary, value }) => folded(`Answer ${status}: ${summary}`, value))}`
}

const folded = (summary: string, value: unknown): Html => html`<details class="docs-folded">
<summary>${summary}</summary>
${listing(pretty(value))}
</details>
`
