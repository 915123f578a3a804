/** Registering a webhook on a page: the rules of the API, with its errors at the fields. */
import { registerWebhook } from '../../../pay/webhooks/commands.ts'
import { eventMeanings, eventTypes } from '../../../pay/webhooks/webhook.ts'
import { readNewWebhook } from '../../../pay/webhooks/wire.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button } from '../../../platform/web/components.ts'
import { checkboxes } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { submit, type Typed, typedInput } from '../frame/form.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import { code, paragraph } from '../frame/parts.ts'

export const newWebhook = definePage({
  path: 'webhooks/new',
  title: 'Register a webhook',
  makes: true,
  narrow: true,
  show: (
    visit,
    _,
    typed?: Typed,
  ) => html`${paragraph('Farthing sends it a signed message about each change of a payment. You see the signing key when it is registered.')}
${actionForm(visit, 'register', fields(visit, typed))}
${paragraph(html`For a receiver on your own machine, start Farthing with its host and port: ${code('FARTHING_CALLBACK_HOSTS=localhost:4000')}. Or register nothing: ${code('farthing listen')} fetches the messages from there.`)}`,
  actions: { register: { run: register } },
})

async function register(
  context: ToolContext,
  { request, account }: PageVisit,
): Promise<Next | Typed> {
  const form = formBody(request)
  const body = {
    callback_url: form.get('callback_url')?.trim() || undefined,
    description: form.get('description')?.trim() || undefined,
    subscriptions: form.getAll('subscriptions'),
  }
  const read = (body: Json) => readNewWebhook(body, context)
  const mended = (field: string) =>
    Object.hasOwn(valid, field) ? { [field]: valid[field] } : undefined
  return submit(form, { body, read, labels, mended, fieldOf }, async fields => {
    const { webhook } = await registerWebhook(context, { account, fields, from: 'console' })
    return { to: `webhooks/${webhook.webhook_id}`, done: { code: 'registered' } }
  })
}

const labels = { callback_url: 'Callback URL', description: 'Description', subscriptions: 'Events' }

/** Right in place of an error, so that the next one is found. */
const valid: Json = {
  callback_url: 'https://192.0.43.8/',
  description: 'D',
  subscriptions: eventTypes,
}

const fieldOf = (field: string | undefined): string =>
  field !== undefined && field in labels ? field : 'callback_url'

function fields(visit: PageVisit, typed: Typed | undefined): Html {
  const hosts = [...visit.config.callbackHosts]
  const chosen = typed?.form.getAll('subscriptions') ?? eventTypes
  return html`${typedInput(typed, {
    name: 'callback_url',
    label: labels.callback_url,
    hint:
      hosts.length > 0
        ? `An https address that is public, or a host of FARTHING_CALLBACK_HOSTS: ${hosts.join(', ')}`
        : 'An https address that is public',
  })}
${typedInput(typed, {
  name: 'description',
  label: labels.description,
  hint: 'Its name on these pages. You may leave it out',
})}
${checkboxes({
  name: 'subscriptions',
  legend: labels.subscriptions,
  items: eventTypes.map(value => ({
    value,
    text: value,
    hint: eventMeanings[value],
    checked: chosen.some(each => each === value),
  })),
  error: typed?.errors.subscriptions,
})}
${button({ id: 'register', text: 'Register the webhook' })}`
}
