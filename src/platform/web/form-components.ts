/** Fields of forms of GOV.UK Frontend, as src/platform/web/components.ts has its other components. */
import { errorMessage, hint } from './components.ts'
import { type Html, html } from './html.ts'

/** What every field has. Its element id is its name. */
type Field = {
  name: string
  label: string
  hint?: string | undefined
  error?: string | undefined
}

/** In characters: two of the widths that the design system has. */
type Width = 3 | 10

type Input = Field & {
  value?: string
  type?: 'text' | 'password' | 'search' | undefined
  autocomplete?: string
  inputmode?: 'numeric' | 'decimal'
  width?: Width | undefined
}

export function input(field: Input): Html {
  const { name, value, type = 'text', autocomplete, inputmode, width } = field
  const sized = width && ` govuk-input--width-${width}`
  return group(
    field,
    html`<input class="govuk-input${sized}${field.error && ' govuk-input--error'}" id="${name}" name="${name}" type="${type}" spellcheck="false"${value !== undefined && html` value="${value}"`}${describedBy(field)}${autocomplete && html` autocomplete="${autocomplete}"`}${inputmode && html` inputmode="${inputmode}"`}>`,
  )
}

export type Option = { value: string; text: string }

type Select = Field & { options: Option[]; value?: string }

export function select(field: Select): Html {
  const { name, options, value } = field
  return group(
    field,
    html`<select class="govuk-select${field.error && ' govuk-select--error'}" id="${name}" name="${name}"${describedBy(field)}>
${options.map(
  option =>
    html`<option value="${option.value}"${option.value === value && html` selected`}>${option.text}</option>\n`,
)}</select>`,
  )
}

type Textarea = Field & { value?: string; rows: number }

/** HTML drops a line feed that follows the start tag, so there is one more. */
export function textarea(field: Textarea): Html {
  const { name, value = '', rows } = field
  return group(
    field,
    html`<textarea class="govuk-textarea${field.error && ' govuk-textarea--error'}" id="${name}" name="${name}" rows="${rows}" spellcheck="false"${describedBy(field)}>\n${value}</textarea>`,
  )
}

export function fileUpload(field: Field): Html {
  const { name } = field
  return group(
    field,
    html`<input class="govuk-file-upload${field.error && ' govuk-file-upload--error'}" id="${name}" name="${name}" type="file"${describedBy(field)}>`,
  )
}

type Checkbox = { name: string; label: string; hint: string; checked?: boolean }

/** A single checkbox, which sends `true`. */
export function checkbox({ name, label, hint: hintText, checked }: Checkbox): Html {
  return html`<div class="govuk-form-group">
<div class="govuk-checkboxes" data-module="govuk-checkboxes">
${checkboxItem(name, name, { value: 'true', text: label, hint: hintText, checked })}</div>
</div>`
}

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

/** Several boxes below a legend. Each sends its value. The first has the name as its id. */
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

function describedBy({ name, hint: hintText, error }: Omit<Field, 'label'>): Html | undefined {
  const ids = [hintText && `${name}-hint`, error && `${name}-error`].filter(Boolean)
  return ids.length > 0 ? html` aria-describedby="${ids.join(' ')}"` : undefined
}
