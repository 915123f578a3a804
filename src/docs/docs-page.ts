/** The description of the API as a page for people: rendered from the document and nothing else. */

import { page, type Site as Shell } from '../hosted/pages.ts'
import { type Html, html } from '../web/html.ts'
import type { Document } from './document.ts'
import {
  endpointSection,
  messageSection,
  type Objects,
  type Operation,
} from './endpoint-section.ts'
import { objectSection, refName } from './object-section.ts'
import { anchor, blocks, code, headingsIn, inline } from './text.ts'

type Entry = Operation & { method: string; path: string }
type Tag = { name: string; description: string; entries: Entry[] }

/** Examples in it hold the example addresses, for the caller to replace. */
export function docsPage(shell: Shell, document: Document): string {
  const tags = tagsOf(document)
  const { info, webhooks } = document
  const objects = document.components.schemas
  const shownAsBodies = new Set(
    [...tags.flatMap(({ entries }) => entries), webhooks.message.post].map(bodyName),
  )
  const message = messageSection(webhooks.message.post, objects)
  const content = html`<div class="docs-content">
<h1 class="govuk-heading-l">API documentation</h1>
<p class="govuk-body-l">${info.title} ${info.version}: ${inline(info.summary)}.</p>
<p class="govuk-body">This page is made from <a class="govuk-link" href="${shell.basePath}/openapi.json">openapi.json</a>, which tools can read. To begin, <a class="govuk-link" href="${shell.basePath}/">make a first payment</a>.</p>
<p class="govuk-body">Address: ${code(document.servers[0]?.url ?? '')}</p>
${blocks(info.description)}
${tags.map(tag => tagSection(tag, objects, tag.name === 'Webhooks' && message))}
<section>
<h2 class="govuk-heading-l docs-tag" id="objects">Objects</h2>
<p class="govuk-body">What bodies are made of. A field that is not marked with “always” may be absent.</p>
${Object.entries(objects)
  .filter(([name]) => !shownAsBodies.has(name))
  .map(([name, schema]) => objectSection(name, schema))}
</section>
</div>`
  const contents = navigation(headingsIn(info.description), tags)
  return page(shell, 'en', 'API documentation - Farthing payments', content, {
    docs: true,
    contents,
  })
}

function tagsOf({ tags, paths }: Document): Tag[] {
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'servers')
      .map(([method, operation]): Entry => ({ ...(operation as Operation), method, path })),
  )
  return tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(entry => entry.tags?.includes(name)),
  }))
}

function navigation(introduction: string[], tags: Tag[]): Html {
  const chapter = (name: string) =>
    html`<li><a class="govuk-link" href="#${anchor(name)}">${name}</a>`
  return html`<nav class="docs-navigation" aria-label="Contents">
<ul class="docs-navigation__list">
${introduction.map(name => html`${chapter(name)}</li>\n`)}${tags.map(
  ({ name, entries }) => html`${chapter(name)}
${
  entries.length > 0 &&
  html`<ul class="docs-navigation__sublist">
${entries.map(
  ({ operationId, summary }) =>
    html`<li><a class="govuk-link" href="#${operationId}">${summary}</a></li>\n`,
)}</ul>`
}</li>\n`,
)}<li><a class="govuk-link" href="#objects">Objects</a></li>
</ul>
</nav>`
}

/** The object that an endpoint takes, whose fields are shown there. */
const bodyName = ({ requestBody }: Operation): string | undefined =>
  requestBody && refName(Object.values(requestBody.content)[0]?.schema ?? {})

function tagSection(
  { name, description, entries }: Tag,
  objects: Objects,
  more: Html | false,
): Html {
  return html`<section>
<h2 class="govuk-heading-l docs-tag" id="${anchor(name)}">${name}</h2>
${blocks(description)}
${entries.map(({ method, path, ...operation }) => endpointSection(method, path, operation, objects))}
${more}
</section>
`
}
