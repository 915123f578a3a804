/** The pages about the service: the front page and the documentation. */
import {
  type Behaviour,
  behaviourMeanings,
  behaviours,
  DEFAULT_ACCOUNT,
} from '../../core/account.ts'
import { asTypedHere } from '../../core/invocation.ts'
import { page, type Site } from '../../pay/hosted/pages.ts'
import { buttonLink } from '../../platform/web/components.ts'
import { type Html, html } from '../../platform/web/html.ts'
import { twoThirds } from '../../platform/web/layout.ts'
import { firstPayment } from '../first-payment.ts'

const code = (text: string): Html => html`<code class="farthing-code">${text}</code>`
const listing = (text: string): Html => html`<pre class="farthing-listing">${text}</pre>`

/** `behaviour` is that of the default account, or of the accounts that the document describes. */
type Service = { hasConsole: boolean; behaviour: Behaviour }

/** For people who open the service's address in a browser. `api` is that address as they see it. */
export function frontPage(site: Site, api: string, { hasConsole, behaviour }: Service) {
  const docs = `${site.basePath}/docs`
  const payment = `curl -i ${api}/v1/payments \\
  -H 'Authorization: Bearer YOUR_API_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(firstPayment, undefined, 2).replaceAll('\n', '\n  ')}'`
  const read = `curl ${api}/v1/payments/PAYMENT_ID \\
  -H 'Authorization: Bearer YOUR_API_KEY'`
  const other = behaviours.find(one => one !== behaviour)
  const content = html`<h1 class="govuk-heading-xl">Farthing</h1>
<p class="govuk-body-l">A payment service that moves no money.</p>
<p class="govuk-body">It stands in for GOV.UK Pay while you build and test: it speaks the same API, shows payment pages, keeps what you create and sends signed webhooks. It is not affiliated with GOV.UK Pay or the UK government.</p>
${
  hasConsole &&
  html`<div class="govuk-button-group">
${buttonLink('open-console', 'Open the console', `${site.basePath}/console`)}
${buttonLink('make-payment', 'Make a payment', `${site.basePath}/console/payments/new`)}
</div>
<p class="govuk-body">The console makes payments, and shows what happened to payments, requests and webhooks. It asks for your API key.</p>`
}
<p class="govuk-body"><a class="govuk-link" href="${docs}">API documentation</a>, also as <a class="govuk-link" href="${site.basePath}/openapi.json">openapi.json</a> for your tools.</p>
<p class="govuk-body">The behaviour of the account ${DEFAULT_ACCOUNT} is ${code(behaviour)}: it ${behaviourMeanings[behaviour]}. ${code(`FARTHING_BEHAVIOUR=${other}`)} starts the service with the other.</p>
<h2 class="govuk-heading-m">Make a first payment with the API</h2>
<ol class="govuk-list govuk-list--number govuk-list--spaced">
<li>Get an API key. The first start of the service prints one, unless ${code('FARTHING_API_KEY')} sets it. ${code(asTypedHere('farthing keys create'))} makes another.</li>
<li>Create a payment, replacing YOUR_API_KEY with your key:
${listing(payment)}</li>
<li>Open the ${code('href')} of ${code('next_url')} in the response in a browser, and choose how the payment ends.</li>
<li>Read the payment, replacing PAYMENT_ID with its ${code('payment_id')}:
${listing(read)}</li>
</ol>
<p class="govuk-body">To use it from your own service, set that service’s GOV.UK Pay URL to ${code(api)}.</p>`
  return page(site, 'en', { title: 'Farthing payments', content: twoThirds(content) })
}

/** The page for the viewer of /openapi.json, which a script fills in. Without scripts the page has links. */
export function docsPage(site: Site, { hasConsole, behaviour }: Service): string {
  const description = `${site.basePath}/openapi.json`
  const content = html`<h1 class="govuk-heading-xl">API documentation</h1>
<p class="govuk-body">This page shows <a class="govuk-link" href="${description}">openapi.json</a>, which your tools can read. It describes accounts with the behaviour ${code(behaviour)}. To try requests, choose Authorize and paste your API key.</p>
<div id="docs" data-openapi="${description}"><noscript><p class="govuk-body">The viewer on this page needs JavaScript. Read openapi.json instead, or open it in another viewer. The <a class="govuk-link" href="${site.basePath}/">front page</a> shows how to make a first payment.</p></noscript></div>`
  const links = [
    { text: 'Front page', href: `${site.basePath}/` },
    ...(hasConsole ? [{ text: 'Console', href: `${site.basePath}/console` }] : []),
  ]
  const title = 'API documentation – Farthing payments'
  return page(site, 'en', { title, content, more: 'docs', links })
}
