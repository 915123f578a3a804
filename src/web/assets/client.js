/**
 * The only script of the hosted pages. It is a module of its own file because the pages' content security
 * policy allows no inline script. Every page works without it.
 */
import { Button, createAll, ErrorSummary, SkipLink } from 'govuk-frontend'

// A browser that runs modules is one that the design system's components support.
document.body.classList.add('js-enabled', 'govuk-frontend-supported')

createAll(Button)
createAll(ErrorSummary)
createAll(SkipLink)

// A browser may show a page that it has kept, although it is told not to keep any: by now the payment may be over.
addEventListener('pageshow', event => {
  if (event.persisted) location.reload()
})
