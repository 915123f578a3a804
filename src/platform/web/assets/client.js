/**
 * The script of every page. Pages work without it. It is a file because their content security policy
 * allows no inline script.
 */
import { Button, createAll, ErrorSummary, SkipLink } from 'govuk-frontend'

// Every browser that runs modules is supported by the components of the design system.
document.body.classList.add('js-enabled', 'govuk-frontend-supported')

createAll(Button)
createAll(ErrorSummary)
createAll(SkipLink)

// A browser may restore a page from its back-forward cache in spite of no-store, and the payment may be finished by now.
addEventListener('pageshow', event => {
  if (event.persisted) location.reload()
})
