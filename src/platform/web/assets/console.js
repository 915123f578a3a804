/** The script of the console, besides that of all pages. Its pages work without it. */
import { createAll, NotificationBanner, ServiceNavigation } from 'govuk-frontend'

createAll(NotificationBanner)
createAll(ServiceNavigation)

/** Milliseconds between two looks for something new, and after a minute in which there was nothing. */
const OFTEN = 2_000
const SELDOM = 10_000
const QUIET = 60_000

// Browsers have a clipboard at https addresses and at localhost only.
if (navigator.clipboard) for (const text of document.querySelectorAll('[data-copy]')) addCopy(text)

function addCopy(text) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'govuk-button govuk-button--secondary farthing-copy'
  button.textContent = 'Copy'
  const name = text.getAttribute('aria-label')
  if (name) button.setAttribute('aria-label', `Copy: ${name}`)
  const status = document.createElement('span')
  status.setAttribute('role', 'status')
  status.className = 'govuk-body-s'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.textContent)
    status.textContent = ' Copied'
  })
  text.after(button, status)
}

const live = document.querySelector('[data-live]')
if (live) watch(live)

/** Asks for news while the page is visible. Without Follow it only says so; with it the page is loaded anew. */
function watch(live) {
  const status = live.querySelector('[role=status]')
  const refresh = live.querySelector('a')
  const follow = live.querySelector('input')
  const kept = `follow ${location.pathname}`
  follow.closest('label').hidden = false
  follow.checked = sessionStorage.getItem(kept) === 'true'
  follow.addEventListener('change', () => sessionStorage.setItem(kept, String(follow.checked)))
  let quietSince = Date.now()

  async function look() {
    const response = document.hidden ? undefined : await ask()
    // Anything but the answer means that the session has ended.
    if (response && !response.ok) return
    const newer = response ? (await response.json()).newer : 0
    if (newer > 0) {
      quietSince = Date.now()
      const isReading = document.querySelector('[data-list]')?.contains(document.activeElement)
      if (follow.checked && !isReading) return location.replace(refresh.href)
      say(newer)
    }
    setTimeout(look, Date.now() - quietSince > QUIET ? SELDOM : OFTEN)
  }

  // While the service restarts there is no answer.
  const ask = () => fetch(live.dataset.live, { redirect: 'manual' }).catch(() => undefined)

  function say(newer) {
    const link = document.createElement('a')
    link.className = 'govuk-link'
    link.href = refresh.href
    link.textContent = 'Show'
    status.replaceChildren(`${newer < 100 ? newer : '100 or more'} newer. `, link)
    // Announced once: later numbers are shown and not read out.
    status.setAttribute('aria-live', 'off')
  }

  setTimeout(look, OFTEN)
}
