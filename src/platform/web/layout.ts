/** The document around the content of every page: head, header, banner and footer. */
import { assets } from './assets.ts'
import { genericHeader, phaseBanner, skipLink } from './components.ts'
import { type Html, html } from './html.ts'

/** Everything on a page that does not change from page to page. */
type Shell = typeof englishShell & {
  /** The path of the site's public address, such as `/farthing`. It has no slash at its end and may be empty. */
  basePath: string
  language: string
}

export type PageOptions = {
  /** Adds the style sheet and the script of the viewer on /docs, or those of the console. */
  more?: 'docs' | 'console'
  navigation?: Html
  links?: { text: string; href: string }[]
}

export const englishShell = {
  serviceName: 'Farthing payments',
  skipLink: 'Skip to main content',
  banner: {
    tag: 'Demo',
    text: 'This is a demonstration. No card is charged and no money moves.',
  },
  footer: 'Farthing is for demonstration and testing only. It is not a government website.',
}

/** Content that is narrower than the page on a wide screen. */
export const twoThirds = (content: Html): Html => html`<div class="govuk-grid-row">
<div class="govuk-grid-column-two-thirds">
${content}
</div>
</div>`

/** Returns a whole document. `title` includes the service's name. */
export function page(
  shell: Shell,
  title: string,
  content: Html,
  { more, navigation, links = [] }: PageOptions = {},
): string {
  const asset = (name: string) => `${shell.basePath}/assets/${name}`
  return html`<!doctype html>
<html lang="${shell.language}" class="govuk-template">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="theme-color" content="#1b2a33">
<link rel="stylesheet" href="${asset(assets.css)}">
<script type="module" src="${asset(assets.js)}"></script>
${
  more &&
  html`<link rel="stylesheet" href="${asset(assets[`${more}Css`])}">
<script type="module" src="${asset(assets[`${more}Js`])}"></script>
`
}<link rel="icon" sizes="any" href="${asset(assets.icon)}" type="image/svg+xml">
</head>
<body class="govuk-template__body${more === 'console' && ' farthing-console'}">
${skipLink(shell.skipLink)}
<header class="govuk-template__header">
${genericHeader(shell.serviceName)}
${navigation}
${phaseBanner(shell.banner.tag, shell.banner.text)}
</header>
<div class="govuk-width-container">
<main class="govuk-main-wrapper" id="main-content">
${content}
</main>
</div>
<footer class="govuk-template__footer">
<div class="farthing-footer">
<div class="govuk-width-container">
<p class="farthing-footer__text">${shell.footer}</p>
${
  links.length > 0 &&
  html`<p class="farthing-footer__text">${links.map(({ text, href }, i) => html`${i > 0 && ' · '}<a class="govuk-link" href="${href}">${text}</a>`)}</p>
`
}</div>
</div>
</footer>
</body>
</html>
`.toString()
}
