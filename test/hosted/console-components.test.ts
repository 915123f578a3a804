import { describe, it } from 'node:test'
import { insetText, table } from '../../src/platform/web/components.ts'
import { checkbox, checkboxes } from '../../src/platform/web/form-components.ts'
import { hard, macro, same } from './macros.ts'

describe('Components of the console and the macros of GOV.UK Frontend', () => {
  it('A note in a table is a cell of the official macro that spans the row', () => {
    const ours = table({
      caption: hard,
      columns: [{ text: 'a' }, { text: 'b' }],
      rows: [{ note: hard }],
    })
    const params = {
      caption: hard,
      captionClasses: 'govuk-visually-hidden',
      classes: 'farthing-cards',
      head: [{ text: 'a' }, { text: 'b' }],
      rows: [[{ text: hard, colspan: 2 }]],
    }
    const theirs = macro('table', 'govukTable', params)
    const row = /(<tbody[^>]*>\s*<tr class="govuk-table__row)/
    same(ours, theirs.replace(row, '$1 farthing-note'))
  })

  it('An inset text has the markup of the official macro', () => {
    same(insetText(hard), macro('inset-text', 'govukInsetText', { text: hard }))
  })

  it('A checkbox has the markup of the official macro', () => {
    const given = { name: 'box', label: hard, hint: hard }
    for (const checked of [true, false]) {
      const item = { value: 'true', text: hard, hint: { text: hard }, checked }
      const params = { name: 'box', items: [item] }
      same(checkbox({ ...given, checked }), macro('checkboxes', 'govukCheckboxes', params))
    }
  })

  it('Several checkboxes have the markup of the official macro', () => {
    const items = ['a', 'b'].map(value => ({
      value,
      text: hard,
      hint: hard,
      checked: value === 'b',
    }))
    for (const error of [undefined, hard]) {
      const params = {
        name: 'boxes',
        fieldset: { legend: { text: hard } },
        ...(error && { errorMessage: { text: error } }),
        items: items.map(item => ({ ...item, hint: { text: hard } })),
      }
      same(
        checkboxes({ name: 'boxes', legend: hard, error, items }),
        macro('checkboxes', 'govukCheckboxes', params),
      )
    }
  })
})
