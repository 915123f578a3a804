/** The form fields of GOV.UK Frontend. src/platform/web/components.ts has its other components. */
import { errorMessage, hint } from './components.ts'
import { type Html, html } from './html.ts'

/** The common properties of all fields. The element id of a field is its name. */
type Field = {
  name: string
  label: string
  hint?: string | undefined
  error?: string | undefined
}

type Input = Field & {
  value?: string
  type?: 'text' | 'password' | 'search' | undefined
  autocomplete?: string
  inputmode?: 'numeric' | 'decimal'
  /** In characters: two of the widths that the design system has. */
  width?: 3 | 10 | undefined
}

export function input(field: Input): Html {
  const { value, type = 'text', autocomplete, inputmode, width } = field
  const sized = width && ` govuk-input--width-${width}`
  return group(
    field,
    html`<input${attributes(field, 'govuk-input', sized)} type="${type}" spellcheck="false"${value !== undefined && html` value="${value}"`}${autocomplete && html` autocomplete="${autocomplete}"`}${inputmode && html` inputmode="${inputmode}"`}>`,
  )
}

/** A choice of `select`. */
export type Option = readonly [value: string, text: string]

export function select(field: Field & { options: readonly Option[]; value?: string }): Html {
  const options = field.options.map(
    ([value, text]) =>
      html`<option value="${value}"${value === field.value && html` selected`}>${text}</option>\n`,
  )
  return group(field, html`<select${attributes(field, 'govuk-select')}>\n${options}</select>`)
}

/** HTML drops a line feed after the start tag, so the template adds one. */
export const textarea = (field: Field & { value?: string; rows: number }): Html =>
  group(
    field,
    html`<textarea${attributes(field, 'govuk-textarea')} rows="${field.rows}" spellcheck="false">\n${field.value}</textarea>`,
  )

export const fileUpload = (field: Field): Html =>
  group(field, html`<input${attributes(field, 'govuk-file-upload')} type="file">`)

type Checkbox = { name: string; label: string; hint: string; checked?: boolean }

/** A single checkbox, which sends `true`. */
export const checkbox = ({ name, label, hint: hintText, checked }: Checkbox): Html =>
  html`<div class="govuk-form-group">
<div class="govuk-checkboxes" data-module="govuk-checkboxes">
${checkboxItem(name, name, { value: 'true', text: label, hint: hintText, checked })}</div>
</div>`

type Item = { value: string; text: string; hint: string; checked: boolean | undefined }

const checkboxItem = (name: string, id: string, { value, text, hint: hintText, checked }: Item) =>
  html`<div class="govuk-checkboxes__item">
<input class="govuk-checkboxes__input" id="${id}" name="${name}" type="checkbox" value="${value}"${checked && html` checked`} aria-describedby="${id}-item-hint">
<label class="govuk-label govuk-checkboxes__label" for="${id}">${text}</label>
${hint(`${id}-item-hint`, hintText, 'govuk-checkboxes__hint')}
</div>
`

type Checkboxes = Omit<Field, 'label' | 'hint'> & {
  legend: string
  items: Item[]
}

/** Several checkboxes below a legend. Each sends its value. The id of the first is the name. */
export function checkboxes({ name, legend, error, items }: Checkboxes): Html {
  return html`<div class="govuk-form-group${error && ' govuk-form-group--error'}">
<fieldset class="govuk-fieldset"${describedBy({ name, error })}>
<legend class="govuk-fieldset__legend">${legend}</legend>
${error && errorMessage(`${name}-error`, { text: error, prefix: 'Error' })}
<div class="govuk-checkboxes" data-module="govuk-checkboxes">
${items.map((item, i) => checkboxItem(name, i === 0 ? name : `${name}-${i + 1}`, item))}</div>
</fieldset>
</div>`
}

function group({ name, label, hint: hintText, error }: Field, control: Html): Html {
  return html`<div class="govuk-form-group${error && ' govuk-form-group--error'}">
<label class="govuk-label" for="${name}">${label}</label>
${hintText && hint(`${name}-hint`, hintText)}
${error && errorMessage(`${name}-error`, { text: error, prefix: 'Error' })}
${control}
</div>`
}

const attributes = (field: Field, look: string, more?: string): Html =>
  html` class="${look}${more}${field.error && ` ${look}--error`}" id="${field.name}" name="${field.name}"${describedBy(field)}`

function describedBy({ name, hint: hintText, error }: Omit<Field, 'label'>): Html | undefined {
  const ids = [hintText && `${name}-hint`, error && `${name}-error`].filter(Boolean)
  return ids.length > 0 ? html` aria-describedby="${ids.join(' ')}"` : undefined
}
