/** The script of /docs, which shows /openapi.json in Swagger UI. */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

const place = document.getElementById('docs')
const address = new URL(place.dataset.openapi, location)

/** In Swagger UI the webhooks of a document are operations of a tag with this name. */
const message = { tag: 'webhooks', operationId: 'receiveMessage' }

/** Names the elements that Swagger UI leaves without a name, and removes names that are wrong. */
function nameElements() {
  for (const element of place.querySelectorAll('textarea.body-param__text'))
    element.ariaLabel = 'Request body'
  for (const element of place.querySelectorAll('.examples-select-element'))
    element.ariaLabel = 'Example'
  for (const element of place.querySelectorAll('[data-param-name] select'))
    element.ariaLabel = element.closest('[data-param-name]').dataset.paramName
  for (const element of place.querySelectorAll('.close-modal')) element.ariaLabel = 'Close'
  for (const element of place.querySelectorAll('.modal-btn, div.copy-to-clipboard'))
    element.ariaLabel = null
  // The responses are a table, which screen readers offer by itself. As a region it would need a name.
  for (const element of place.querySelectorAll('table[role=region]')) element.role = null
  const levels = { '.webhooks-container h2': 3, '.auth-container h6': 5 }
  for (const [headings, level] of Object.entries(levels))
    for (const element of place.querySelectorAll(headings)) element.ariaLevel = level
}

/** The page has a main element around Swagger UI, so Swagger UI's own main element becomes a div. */
const createElement = document.createElement.bind(document)
document.createElement = (name, options) => createElement(name === 'main' ? 'div' : name, options)

fetch(address)
  .then(response => response.json())
  .then(show)

function show(spec) {
  sendToThisOrigin(spec)
  new MutationObserver(nameElements).observe(place, { childList: true, subtree: true })
  const ui = SwaggerUI({
    spec,
    domNode: place,
    defaultModelsExpandDepth: 0,
    // No request goes to an address outside this service.
    validatorUrl: null,
    syntaxHighlight: { theme: 'obsidian' },
    // The choice of a server has no label. With one server it is of no use.
    plugins: [{ wrapComponents: { ServersContainer: () => () => null } }],
    onComplete: () => {
      ui.layoutActions.show(['operations', message.tag, message.operationId], true)
      place.before(contents(spec))
    },
  })
}

/**
 * Lets requests go to the address at which this page was opened. The document names the configured addresses, which
 * may be of another origin or known only to other containers, and the API has no CORS.
 */
function sendToThisOrigin(spec) {
  spec.servers = [{ url: new URL('.', address).href.replace(/\/$/, '') }]
  for (const path of Object.values(spec.paths)) delete path.servers
}

function contents({ tags }) {
  const list = document.createElement('ul')
  list.className = 'govuk-list docs-contents'
  for (const { name } of tags)
    list.append(link(name, `operations-tag-${name.replaceAll(' ', '_')}`))
  list.append(link('Webhook messages', `operations-${message.tag}-${message.operationId}`))
  const navigation = document.createElement('nav')
  navigation.ariaLabel = 'Contents'
  navigation.append(list)
  return navigation
}

function link(text, id) {
  const anchor = document.createElement('a')
  anchor.className = 'govuk-link'
  anchor.href = `#${id}`
  anchor.textContent = text
  const item = document.createElement('li')
  item.append(anchor)
  return item
}
