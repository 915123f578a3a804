/** What all hosted pages have around their content: the document, its header and its footer. */

import { messages } from '../hosted/text.ts'
import type { Language } from '../payments/payment.ts'
import { assets } from './assets.ts'
import { genericHeader, phaseBanner, skipLink } from './components.ts'
import { type Html, html } from './html.ts'

export type Shell = {
  /** The path of the pages' public address: empty, or like `/farthing`, without a slash at its end. */
  basePath: string
}

/**
 * A whole document. `title` is complete, the service's name included. `docs`: it documents the service;
 * `contents` then stands beside or before the main part.
 */
export function page(
  shell: Shell,
  language: Language,
  title: string,
  content: Html,
  { docs = false, contents }: { docs?: boolean; contents?: Html } = {},
): string {
  const text = messages[language]
  const main = html`<main class="govuk-main-wrapper" id="main-content">
${content}
</main>`
  const asset = (name: string) => `${shell.basePath}/assets/${name}`
  return html`<!doctype html>
<html lang="${language}" class="govuk-template">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="theme-color" content="#1b2a33">
<link rel="stylesheet" href="${asset(assets.css)}">
${
  docs &&
  html`<link rel="stylesheet" href="${asset(assets.docs)}">
`
}<script type="module" src="${asset(assets.js)}"></script>
<link rel="icon" sizes="any" href="${asset(assets.icon)}" type="image/svg+xml">
</head>
<body class="govuk-template__body">
${skipLink(text.skipLink)}
<header class="govuk-template__header">
${genericHeader(text.serviceName)}
${phaseBanner(text.demoTag, text.demoText)}
</header>
<div class="govuk-width-container">
${contents ? html`<div class="docs">\n${contents}\n${main}\n</div>` : main}
</div>
<footer class="govuk-template__footer">
<div class="farthing-footer">
<div class="govuk-width-container">
<p class="farthing-footer__text">${text.footer}</p>
</div>
</div>
</footer>
</body>
</html>
`.toString()
}
