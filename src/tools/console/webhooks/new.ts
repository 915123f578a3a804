/** Registering a webhook on a page: the rules of the API, with its errors at the fields. */
import { registerWebhook } from '../../../pay/webhooks/commands.ts'
import { eventMeanings, eventTypes } from '../../../pay/webhooks/webhook.ts'
import { readNewWebhook } from '../../../pay/webhooks/wire.ts'
import { formBody } from '../../../platform/http/body.ts'
import type { Json } from '../../../platform/http/fields.ts'
import { button } from '../../../platform/web/components.ts'
import { checkboxes, input } from '../../../platform/web/form-components.ts'
import { type Html, html } from '../../../platform/web/html.ts'
import type { ToolContext } from '../../context.ts'
import { actionForm, definePage } from '../frame/define-page.ts'
import { errorsIn, toldIn } from '../frame/form-errors.ts'
import type { PageVisit } from '../frame/list.ts'
import type { Next } from '../frame/page.ts'
import { code, paragraph } from '../frame/parts.ts'

const TEXTS = ['callback_url', 'description'] as const
const EVENTS = 'subscriptions'

type Typed = { form: URLSearchParams; errors: Record<string, string> }

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
    subscriptions: form.getAll(EVENTS),
  }
  const read = (body: Json) => readNewWebhook(body, context)
  const mended = (field: string) =>
    Object.hasOwn(valid, field) ? { [field]: valid[field] } : undefined
  const errors = await errorsIn({ body, read, labels, mended, fieldOf })
  if (Object.keys(errors).length > 0) return { form, errors }
  try {
    const fields = await read(body)
    const { webhook } = await registerWebhook(context, { account, fields, from: 'console' })
    return { to: `webhooks/${webhook.webhook_id}`, done: { code: 'registered' } }
  } catch (error) {
    const { field, text } = toldIn(error, { labels })
    return { form, errors: { [fieldOf(field)]: text } }
  }
}

const labels = { callback_url: 'Callback URL', description: 'Description', subscriptions: 'Events' }

/** Right in place of an error, so that the next one is found. */
const valid: Json = {
  callback_url: 'https://192.0.43.8/',
  description: 'D',
  subscriptions: eventTypes,
}

const fieldOf = (field: string | undefined): string =>
  [...TEXTS, EVENTS].find(each => each === field) ?? 'callback_url'

function fields(visit: PageVisit, typed: Typed | undefined): Html {
  const hosts = [...visit.config.callbackHosts]
  const textOf = (name: (typeof TEXTS)[number]) => typed?.form.get(name) ?? ''
  const chosen = typed?.form.getAll(EVENTS) ?? eventTypes
  return html`${input({
    name: 'callback_url',
    label: 'Callback URL',
    hint:
      hosts.length > 0
        ? `An https address that is public, or a host of FARTHING_CALLBACK_HOSTS: ${hosts.join(', ')}`
        : 'An https address that is public',
    value: textOf('callback_url'),
    error: typed?.errors.callback_url,
  })}
${input({
  name: 'description',
  label: 'Description',
  hint: 'Its name on these pages. You may leave it out',
  value: textOf('description'),
  error: typed?.errors.description,
})}
${checkboxes({
  name: EVENTS,
  legend: 'Events',
  items: eventTypes.map(value => ({
    value,
    text: value,
    hint: eventMeanings[value],
    checked: chosen.some(each => each === value),
  })),
  error: typed?.errors[EVENTS],
})}
${button({ id: 'register', text: 'Register the webhook' })}`
}
