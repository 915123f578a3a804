/** Every component has the markup of the macro of GOV.UK Frontend with its name. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import nunjucks from 'nunjucks'
import { assets } from '../../src/platform/web/assets.ts'
import {
  button,
  buttonLink,
  details,
  errorMessage,
  errorSummary,
  genericHeader,
  insetText,
  notificationBanner,
  pagination,
  phaseBanner,
  radios,
  serviceNavigation,
  skipLink,
  summaryCard,
  summaryList,
  table,
  tag,
} from '../../src/platform/web/components.ts'
import {
  checkbox,
  checkboxes,
  fileUpload,
  input,
  select,
  textarea,
} from '../../src/platform/web/form-components.ts'
import { type Html, html } from '../../src/platform/web/html.ts'
import { page } from '../../src/platform/web/layout.ts'
import { normalise } from './document.ts'

/** Both sides must escape this text in the same way. */
const hard = `Tom & "Jerry" <b>aren't</b> &amp; £5`
const escaped = html`${hard}`.toString()

const official = nunjucks.configure('node_modules/govuk-frontend/dist', { autoescape: true })

function macro(component: string, params: object): string {
  const name = `govuk-${component}`.replace(/-(\w)/g, (_, letter) => letter.toUpperCase())
  const source = `{% from "govuk/components/${component}/macro.njk" import ${name} %}{{ ${name}(params) }}`
  return official.renderString(source, { params })
}

const same = (ours: Html | string, theirs: string): void =>
  assert.equal(normalise(ours.toString()), normalise(theirs))

/** A component, and the parameters with which the macro makes the same. */
type Pair = [ours: Html, params: object]

/** The shape of a text, a hint, a legend or a label for the macros. */
const text = { text: hard }

const amount = { format: 'numeric', attributes: { 'data-label': 'Amount' } }
const status = { attributes: { 'data-label': 'Status' } }
const ourTable = {
  caption: hard,
  columns: [text, { text: 'Amount', numeric: true }, { text: 'Status' }],
  rows: [
    [hard, '£5', html`<b>x</b>`],
    ['b', '£6', ''],
  ],
}
const theirTable = {
  caption: hard,
  classes: 'farthing-cards',
  firstCellIsHeader: true,
  head: [text, { text: 'Amount', format: 'numeric' }, { text: 'Status' }],
  rows: [
    [text, { text: '£5', ...amount }, { html: '<b>x</b>', ...status }],
    [{ text: 'b' }, { text: '£6', ...amount }, { text: '', ...status }],
  ],
}

const ourRadios = {
  name: 'scenario',
  legend: hard,
  hint: hard,
  items: [
    { value: 'one', text: hard, hint: hard },
    { divider: 'or' },
    { value: 'three', text: 'Three', hint: 'Last' },
  ],
}
const theirRadios = {
  name: 'scenario',
  fieldset: { legend: { text: hard, classes: 'govuk-fieldset__legend--m' } },
  hint: text,
  items: [
    { value: 'one', text: hard, hint: text },
    { divider: 'or' },
    { value: 'three', text: 'Three', hint: { text: 'Last' } },
  ],
}
const wrong = { text: hard, prefix: 'Gwall' }
const theirWrong = { text: hard, visuallyHiddenText: 'Gwall' }

const ourSummary = { id: 'a', key: hard, value: hard }
const theirSummary = { key: text, value: { html: `<bdi id="a">${escaped}</bdi>` } }
const total = { id: 'b', key: 'b', value: html`one<br>two`, emphasised: true }
const theirTotal = {
  key: { text: 'b' },
  value: { html: '<bdi id="b">one<br>two</bdi>' },
  classes: 'farthing-total',
}

const errorList = [
  { text: hard, href: '#scenario' },
  { text: 'Another', href: '#other' },
]
const back = 'https://example.org/back?a=1&b="2"'
const press = { text: hard, id: 'confirm' }
const theirPress = { ...press, preventDoubleClick: true }
const cancel = { name: 'scenario', value: 'cancel' }
const [newer, older] = ['payments?after=1&q="', 'payments?before=2']
const boxes = ['a', 'b'].map(value => ({ value, text: hard, hint: hard, checked: value === 'b' }))

const components: Record<string, Pair[]> = {
  'skip-link': [[skipLink(hard), { href: '#main-content', text: hard }]],
  'phase-banner': [
    [phaseBanner(hard, hard), { tag: { text: hard, classes: 'govuk-tag--orange' }, text: hard }],
  ],
  'summary-list': [
    [summaryList([ourSummary, total]), { rows: [theirSummary, theirTotal] }],
    [
      summaryCard(hard, [ourSummary]),
      { card: { title: { text: hard, headingLevel: 3 } }, rows: [theirSummary] },
    ],
  ],
  'error-summary': [[errorSummary(hard, errorList), { titleText: hard, errorList }]],
  'error-message': [[errorMessage('x-error', wrong), { id: 'x-error', ...theirWrong }]],
  radios: [
    [radios(ourRadios), theirRadios],
    [radios({ ...ourRadios, error: wrong }), { ...theirRadios, errorMessage: theirWrong }],
  ],
  button: [
    [button(press), theirPress],
    [
      button({ ...press, field: cancel, secondary: true }),
      { ...theirPress, ...cancel, classes: 'govuk-button--secondary' },
    ],
    [button({ ...press, form: 'cancel' }), { ...theirPress, attributes: { form: 'cancel' } }],
    [buttonLink('return-url', hard, back), { text: hard, href: back, id: 'return-url' }],
  ],
  tag: [
    [tag(hard), text],
    [tag(hard, 'red'), { ...text, classes: 'govuk-tag--red' }],
  ],
  table: [
    [
      table({ ...ourTable, showsCaption: true }),
      { ...theirTable, captionClasses: 'govuk-table__caption--m' },
    ],
    [table(ourTable), { ...theirTable, captionClasses: 'govuk-visually-hidden' }],
  ],
  pagination: [{ newer, older }, { newer }, { older }].map((links): Pair => {
    const params = {
      landmarkLabel: hard,
      ...(links.newer && { previous: { text: 'Newer', href: newer } }),
      ...(links.older && { next: { text: 'Older', href: older } }),
    }
    return [pagination({ label: hard, newer: links.newer, older: links.older }), params]
  }),
  details: [
    [details(hard, html`<pre>a</pre>`), { summaryText: hard, html: '<pre>a</pre>' }],
    [
      details(hard, html`<pre>a</pre>`, { id: 'x', open: true }),
      { summaryText: hard, html: '<pre>a</pre>', id: 'x', open: true },
    ],
  ],
  'service-navigation': [
    [
      serviceNavigation(
        [
          { text: hard, href: '../payments', current: true },
          { text: 'Requests', href: '../requests', current: false },
        ],
        html`<form>x</form>`,
      ),
      {
        navigation: [
          { text: hard, href: '../payments', active: true },
          { text: 'Requests', href: '../requests' },
        ],
        slots: { end: { html: '<form>x</form>', align: 'inline' } },
      },
    ],
  ],
  'notification-banner': [
    [notificationBanner(hard), text],
    [notificationBanner(hard, { success: true }), { ...text, type: 'success' }],
  ],
  'inset-text': [[insetText(hard), text]],
  checkboxes: [
    ...[true, false].map((checked): Pair => {
      const item = { value: 'true', text: hard, hint: text, checked }
      const ours = checkbox({ name: 'box', label: hard, hint: hard, checked })
      return [ours, { name: 'box', items: [item] }]
    }),
    ...[undefined, hard].map((error): Pair => {
      const params = {
        name: 'boxes',
        fieldset: { legend: text },
        ...(error && { errorMessage: text }),
        items: boxes.map(item => ({ ...item, hint: text })),
      }
      return [checkboxes({ name: 'boxes', legend: hard, error, items: boxes }), params]
    }),
  ],
}

for (const [component, pairs] of Object.entries(components))
  it(`The component ${component} has the markup of the official macro`, () => {
    for (const [ours, params] of pairs) same(ours, macro(component, params))
  })

it('The generic header has the markup of the official macro, with plain text in place of the link', () => {
  const theirs = macro('generic-header', { logoText: hard, classes: 'farthing-header' })
  const link = /<a href="\/" class="govuk-generic-header__homepage-link">([\s\S]*?)<\/a>/
  assert.match(theirs, link)
  same(genericHeader(hard), theirs.replace(link, '<span class="farthing-header__name">$1</span>'))
})

it('A note in a table is a cell of the official macro that spans the row', () => {
  const columns = [{ text: 'a' }, { text: 'b' }]
  const theirs = macro('table', {
    caption: hard,
    captionClasses: 'govuk-visually-hidden',
    classes: 'farthing-cards',
    head: columns,
    rows: [[{ ...text, colspan: 2 }]],
  })
  const row = /(<tbody[^>]*>\s*<tr class="govuk-table__row)/
  const ours = table({ caption: hard, columns, rows: [{ note: hard }] })
  same(ours, theirs.replace(row, '$1 farthing-note'))
})

const fields = {
  plain: [{}, {}],
  'with a hint and an error': [
    { hint: hard, error: hard },
    { hint: text, errorMessage: text },
  ],
  'with an error': [{ error: hard }, { errorMessage: text }],
} as const
for (const [kind, [ours, theirs]] of Object.entries(fields))
  it(`Fields have the markup of the official macros: ${kind}`, () => {
    const field = { name: 'key', label: hard, ...ours }
    const params = { id: 'key', name: 'key', label: text, ...theirs }
    const typed = { ...params, spellcheck: false }
    same(input(field), macro('input', typed))
    const filled = {
      value: hard,
      type: 'password',
      autocomplete: 'current-password',
      inputmode: 'numeric',
    } as const
    same(
      input({ ...field, ...filled, width: 10 }),
      macro('input', { ...typed, ...filled, classes: 'govuk-input--width-10' }),
    )
    const options = Object.entries({ '': 'All', b: hard })
    const chosen = { items: options.map(([value, text]) => ({ value, text })), value: 'b' }
    same(select({ ...field, options, value: 'b' }), macro('select', { ...params, ...chosen }))
    const long = { value: hard, rows: 9 }
    same(textarea({ ...field, ...long }), macro('textarea', { ...typed, ...long }))
    same(fileUpload(field), macro('file-upload', params))
  })

it('The page has the markup of the official template without its inline script, header and footer', () => {
  const source = `{% extends "govuk/template.njk" %}
    {% block pageTitle %}{{ title }}{% endblock %}
    {% block head %}<link rel="stylesheet" href="/assets/{{ assets.css }}">
      <script type="module" src="/assets/{{ assets.js }}"></script>{% endblock %}
    {% block headIcons %}<link rel="icon" sizes="any" href="/assets/{{ assets.icon }}" type="image/svg+xml">{% endblock %}
    {% block govukHeader %}{{ header | safe }}{% endblock %}
    {% block headerEnd %}{{ banner | safe }}{% endblock %}
    {% block content %}<h1>{{ title }}</h1>{% endblock %}
    {% block govukFooter %}<div class="farthing-footer"><div class="govuk-width-container"><p class="farthing-footer__text">{{ footer }}</p></div></div>{% endblock %}`
  const theirs = official.renderString(source, {
    title: hard,
    assets,
    footer: hard,
    themeColor: '#1b2a33',
    header: genericHeader(hard).toString(),
    banner: phaseBanner(hard, hard).toString(),
  })
  const inlineScript = /<script>document\.body\.className[\s\S]*?<\/script>/
  assert.match(theirs, inlineScript)
  const shell = {
    basePath: '',
    language: 'en',
    serviceName: hard,
    skipLink: 'Skip to main content',
    banner: { tag: hard, text: hard },
    footer: hard,
  }
  same(page(shell, hard, html`<h1>${hard}</h1>`), theirs.replace(inlineScript, ''))
})
