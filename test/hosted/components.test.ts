import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assets } from '../../src/platform/web/assets.ts'
import {
  button,
  buttonLink,
  details,
  errorMessage,
  errorSummary,
  genericHeader,
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
import { fileUpload, input, select, textarea } from '../../src/platform/web/form-components.ts'
import { html } from '../../src/platform/web/html.ts'
import { page } from '../../src/platform/web/layout.ts'
import { escaped, hard, macro, official, same } from './macros.ts'

describe('Components and the macros of GOV.UK Frontend', () => {
  it('The skip link has the markup of the official macro', () => {
    const params = { href: '#main-content', text: hard }
    same(skipLink(hard), macro('skip-link', 'govukSkipLink', params))
  })

  it('The generic header has the markup of the official macro, with plain text in place of the link', () => {
    const theirs = macro('generic-header', 'govukGenericHeader', {
      logoText: hard,
      classes: 'farthing-header',
    })
    const link = /<a href="\/" class="govuk-generic-header__homepage-link">([\s\S]*?)<\/a>/
    assert.match(theirs, link)
    same(genericHeader(hard), theirs.replace(link, '<span class="farthing-header__name">$1</span>'))
  })

  it('The phase banner has the markup of the official macro', () => {
    const params = { tag: { text: hard, classes: 'govuk-tag--orange' }, text: hard }
    same(phaseBanner(hard, hard), macro('phase-banner', 'govukPhaseBanner', params))
  })

  it('The summary list has the markup of the official macro', () => {
    const params = {
      rows: [
        { key: { text: hard }, value: { html: `<bdi id="a">${escaped}</bdi>` } },
        {
          key: { text: 'b' },
          value: { html: '<bdi id="b">one<br>two</bdi>' },
          classes: 'farthing-total',
        },
      ],
    }
    const ours = summaryList([
      { id: 'a', key: hard, value: hard },
      { id: 'b', key: 'b', value: html`one<br>two`, emphasised: true },
    ])
    same(ours, macro('summary-list', 'govukSummaryList', params))
  })

  it('The error summary has the markup of the official macro', () => {
    const errorList = [
      { text: hard, href: '#scenario' },
      { text: 'Another', href: '#other' },
    ]
    const params = { titleText: hard, errorList }
    same(errorSummary(hard, errorList), macro('error-summary', 'govukErrorSummary', params))
  })

  it('The error message has the markup of the official macro', () => {
    const params = { id: 'x-error', text: hard, visuallyHiddenText: 'Gwall' }
    const ours = errorMessage('x-error', { text: hard, prefix: 'Gwall' })
    same(ours, macro('error-message', 'govukErrorMessage', params))
  })

  const radiosParams = {
    name: 'scenario',
    fieldset: { legend: { text: hard, classes: 'govuk-fieldset__legend--m' } },
    hint: { text: hard },
    items: [
      { value: 'one', text: hard, hint: { text: hard } },
      { value: 'two', text: 'Two', hint: { text: 'Second' } },
      { divider: 'or' },
      { value: 'four', text: 'Four', hint: { text: 'Last' } },
    ],
  }
  const ourRadios = {
    name: 'scenario',
    legend: hard,
    hint: hard,
    items: [
      { value: 'one', text: hard, hint: hard },
      { value: 'two', text: 'Two', hint: 'Second' },
      { divider: 'or' },
      { value: 'four', text: 'Four', hint: 'Last' },
    ],
  }

  it('Radios with hints and a divider have the markup of the official macro', () => {
    same(radios(ourRadios), macro('radios', 'govukRadios', radiosParams))
  })

  it('Radios with an error have the markup of the official macro', () => {
    const errorMessage = { text: hard, visuallyHiddenText: 'Gwall' }
    const ours = radios({ ...ourRadios, error: { text: hard, prefix: 'Gwall' } })
    same(ours, macro('radios', 'govukRadios', { ...radiosParams, errorMessage }))
  })

  it('A button has the markup of the official macro', () => {
    const params = { text: hard, id: 'confirm', preventDoubleClick: true }
    same(button({ text: hard, id: 'confirm' }), macro('button', 'govukButton', params))
  })

  it('A secondary button that sends a field has the markup of the official macro', () => {
    const common = { text: hard, id: 'cancel-payment' }
    const field = { name: 'scenario', value: 'cancel' }
    const classes = 'govuk-button--secondary'
    const params = { ...common, ...field, classes, preventDoubleClick: true }
    same(button({ ...common, field, secondary: true }), macro('button', 'govukButton', params))
  })

  it('A button of another form has the markup of the official macro', () => {
    const params = { text: hard, id: 'cancel', preventDoubleClick: true }
    const theirs = macro('button', 'govukButton', { ...params, attributes: { form: 'cancel' } })
    same(button({ text: hard, id: 'cancel', form: 'cancel' }), theirs)
  })

  it('A link that looks like a button has the markup of the official macro', () => {
    const href = 'https://example.org/back?a=1&b="2"'
    const params = { text: hard, href, id: 'return-url' }
    same(buttonLink('return-url', hard, href), macro('button', 'govukButton', params))
  })

  it('A tag has the markup of the official macro, with and without a colour', () => {
    same(tag(hard), macro('tag', 'govukTag', { text: hard }))
    const params = { text: hard, classes: 'govuk-tag--red' }
    same(tag(hard, 'red'), macro('tag', 'govukTag', params))
  })

  it('A table has the markup of the official macro', () => {
    const columns = [{ text: hard }, { text: 'Amount', numeric: true }, { text: 'Status' }]
    const amount = { format: 'numeric', attributes: { 'data-label': 'Amount' } }
    const status = { attributes: { 'data-label': 'Status' } }
    const params = {
      caption: hard,
      classes: 'farthing-cards',
      firstCellIsHeader: true,
      head: [{ text: hard }, { text: 'Amount', format: 'numeric' }, { text: 'Status' }],
      rows: [
        [{ text: hard }, { text: '£5', ...amount }, { html: '<b>x</b>', ...status }],
        [{ text: 'b' }, { text: '£6', ...amount }, { text: '', ...status }],
      ],
    }
    const rows = [
      [hard, '£5', html`<b>x</b>`],
      ['b', '£6', ''],
    ]
    same(
      table({ caption: hard, showsCaption: true, columns, rows }),
      macro('table', 'govukTable', { ...params, captionClasses: 'govuk-table__caption--m' }),
    )
    same(
      table({ caption: hard, columns, rows }),
      macro('table', 'govukTable', { ...params, captionClasses: 'govuk-visually-hidden' }),
    )
  })

  it('Links to newer and older entries have the markup of the official macro', () => {
    const [newer, older] = ['payments?after=1&q="', 'payments?before=2']
    for (const given of [{ newer, older }, { newer }, { older }]) {
      const params = {
        landmarkLabel: hard,
        ...(given.newer && { previous: { text: 'Newer', href: newer } }),
        ...(given.older && { next: { text: 'Older', href: older } }),
      }
      const ours = pagination({ label: hard, newer: given.newer, older: given.older })
      same(ours, macro('pagination', 'govukPagination', params))
    }
  })

  it('Details have the markup of the official macro', () => {
    const params = { summaryText: hard, html: '<pre>a</pre>' }
    same(details(hard, html`<pre>a</pre>`), macro('details', 'govukDetails', params))
    const ours = details(hard, html`<pre>a</pre>`, { id: 'x', open: true })
    same(ours, macro('details', 'govukDetails', { ...params, id: 'x', open: true }))
  })

  it('The service navigation has the markup of the official macro', () => {
    const params = {
      navigation: [
        { text: hard, href: '../payments', active: true },
        { text: 'Requests', href: '../requests' },
      ],
      slots: { end: { html: '<form>x</form>', align: 'inline' } },
    }
    const ours = serviceNavigation(
      [
        { text: hard, href: '../payments', current: true },
        { text: 'Requests', href: '../requests', current: false },
      ],
      html`<form>x</form>`,
    )
    same(ours, macro('service-navigation', 'govukServiceNavigation', params))
  })

  it('A notification banner has the markup of the official macro', () => {
    const theirs = (params: object) =>
      macro('notification-banner', 'govukNotificationBanner', { text: hard, ...params })
    same(notificationBanner(hard), theirs({}))
    same(notificationBanner(hard, { success: true }), theirs({ type: 'success' }))
  })

  it('A summary card has the markup of the official macro', () => {
    const params = {
      card: { title: { text: hard, headingLevel: 3 } },
      rows: [{ key: { text: hard }, value: { html: `<bdi id="a">${escaped}</bdi>` } }],
    }
    const rows = [{ id: 'a', key: hard, value: hard }]
    same(summaryCard(hard, rows), macro('summary-list', 'govukSummaryList', params))
  })

  const [label, name] = [{ text: hard }, 'key']
  const fields = {
    plain: [{}, {}],
    'with a hint and an error': [
      { hint: hard, error: hard },
      { hint: { text: hard }, errorMessage: { text: hard } },
    ],
    'with an error': [{ error: hard }, { errorMessage: { text: hard } }],
  } as const
  for (const [kind, [ours, theirs]] of Object.entries(fields))
    it(`Fields have the markup of the official macros: ${kind}`, () => {
      const field = { name, label: hard, ...ours }
      const params = { id: name, name, label, ...theirs }
      same(input(field), macro('input', 'govukInput', { ...params, spellcheck: false }))
      const filled = { value: hard, type: 'password', autocomplete: 'current-password' } as const
      same(
        input({ ...field, ...filled, inputmode: 'numeric', width: 10 }),
        macro('input', 'govukInput', {
          ...params,
          ...filled,
          inputmode: 'numeric',
          spellcheck: false,
          classes: 'govuk-input--width-10',
        }),
      )
      const options = [
        { value: '', text: 'All' },
        { value: 'b', text: hard },
      ]
      same(
        select({ ...field, options, value: 'b' }),
        macro('select', 'govukSelect', { ...params, items: options, value: 'b' }),
      )
      same(
        textarea({ ...field, value: hard, rows: 9 }),
        macro('textarea', 'govukTextarea', { ...params, value: hard, rows: 9, spellcheck: false }),
      )
      same(fileUpload(field), macro('file-upload', 'govukFileUpload', params))
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
})
