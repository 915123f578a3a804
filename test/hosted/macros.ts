/** Compares a component with the official macro of GOV.UK Frontend. */
import assert from 'node:assert/strict'
import nunjucks from 'nunjucks'
import { html } from '../../src/platform/web/html.ts'
import { normalise } from './document.ts'

/** Both sides must escape this text in the same way. */
export const hard = `Tom & "Jerry" <b>aren't</b> &amp; £5`

export const escaped = html`${hard}`.toString()

export const official = nunjucks.configure('node_modules/govuk-frontend/dist', { autoescape: true })

export function macro(component: string, name: string, params: object): string {
  const source = `{% from "govuk/components/${component}/macro.njk" import ${name} %}{{ ${name}(params) }}`
  return official.renderString(source, { params })
}

export function same(ours: { toString(): string }, theirs: string): void {
  assert.equal(normalise(ours.toString()), normalise(theirs))
}
