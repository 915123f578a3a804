/** The script of the console, besides that of all pages. Its pages work without it. */
import { createAll, NotificationBanner, ServiceNavigation } from 'govuk-frontend'

createAll(NotificationBanner)
createAll(ServiceNavigation)

/** Milliseconds between two questions for news: SELDOM after QUIET without news, and for pages slow to check. */
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
  const name = text.dataset.copy || text.getAttribute('aria-label')
  if (name) button.setAttribute('aria-label', `Copy: ${name}`)
  const status = document.createElement('span')
  status.setAttribute('role', 'status')
  status.className = 'govuk-body-s'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text.textContent)
    status.textContent = ' Copied'
  })
  const summary = text.closest('#summary')
  if (!summary) return text.after(button, status)
  // Nobody need unfold the summary first, because the button stands before it.
  button.textContent = 'Copy summary'
  button.removeAttribute('aria-label')
  summary.before(button, status)
}

const state = document.querySelector('[data-live]')?.dataset
if (state) {
  tellAges()
  watch(document.querySelector('.farthing-live'))
}

/** Ages are at the account's time: that of the page when it was made, and the time since then. */
function tellAges() {
  const now = Number(state.now) + performance.now()
  const words = new Intl.RelativeTimeFormat('en-GB')
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ]
  for (const time of document.querySelectorAll('.farthing-time')) {
    const ms = now - Date.parse(time.dateTime)
    const [unit, length] = units.find(([, length]) => ms >= length) ?? units.at(-1)
    const ago = words.format(-Math.floor(ms / length), unit)
    time.title = `${time.dateTime}, ${ago}`
    if (!('age' in time.dataset)) continue
    time.dataset.age ||= time.textContent
    time.textContent = `${time.dataset.age} (${ago.replaceAll(' ', '\u00a0')})`
  }
}

/** Restores the checkbox Follow after a reload. The returned function stores its state and whether it has the focus. */
function keepFollow(follow) {
  const kept = `follow ${location.pathname}`
  const keep = hasFocus =>
    sessionStorage.setItem(kept, follow.checked ? `ticked${hasFocus ? ', focused' : ''}` : '')
  const before = sessionStorage.getItem(kept)
  follow.closest('label').hidden = false
  follow.checked = Boolean(before)
  if (before?.includes('focused')) follow.focus({ preventScroll: true })
  keep(false)
  follow.addEventListener('change', () => keep(false))
  return keep
}

/**
 * Asks, while the page is visible, whether the page is still true. Without Follow the page only says that it has
 * changed. With Follow it is loaded anew, unless another element of its content has the keyboard's focus.
 */
function watch(live) {
  const status = live.querySelector('[role=status]')
  const refresh = live.querySelector('a')
  const follow = live.querySelector('input')
  const keep = keepFollow(follow)
  const often = 'slow' in state ? SELDOM : OFTEN
  let quietSince = Date.now()
  let said = ''
  let timer

  async function look() {
    clearTimeout(timer)
    tellAges()
    if (!document.hidden && (await isOver())) return
    const isQuiet = !follow.checked && Date.now() - quietSince > QUIET
    timer = setTimeout(look, isQuiet ? SELDOM : often)
  }

  /** Asks the service, which answers 304 while the page is unchanged. Returns whether to stop asking. */
  async function isOver() {
    const response = await fetch(refresh.href, {
      method: 'HEAD',
      headers: { 'if-none-match': state.live, 'farthing-account': state.account },
      redirect: 'manual',
    }).catch(() => undefined)
    if (response?.type === 'opaqueredirect') return end('You are signed out. ', 'Sign in')
    if (response?.status === 404) return end('This is not here any more. ', 'Show')
    if (response?.status === 409) return end('You are now in another account. ', 'Show')
    if (response?.ok) return changed(response.headers)
    if (response?.status === 304) say('', '')
    // The service does not answer while it restarts or has too much to do.
    else say('none', 'Farthing does not answer. What you see may be out of date.')
    return false
  }

  function changed(headers) {
    quietSince = Date.now()
    const { activeElement: focused } = document
    // An element of the content that somebody uses is not replaced. Follow gets its focus again after the reload.
    if (follow.checked && (focused === follow || !focused?.closest('main'))) {
      keep(focused === follow)
      // A reload keeps the place on the page, but would send a form again.
      if (location.href.split('#')[0] === refresh.href) location.reload()
      else location.replace(refresh.href)
      return true
    }
    const newer = Number(headers.get('farthing-newer'))
    const ago = headers.get('farthing-ago')
    if (newer > 0) say('changed', `${newer < 100 ? newer : '100 or more'} newer. `, 'Show')
    else say('changed', ago === null ? 'This has changed. ' : `Changed ${age(ago)} ago. `, 'Show')
    return false
  }

  function end(text, action) {
    follow.checked = false
    follow.closest('label').hidden = true
    say('end', text, action)
    return true
  }

  /** Screen readers read out only the first news of a kind. */
  function say(kind, text, action) {
    if (kind !== said) status.removeAttribute('aria-live')
    const link = document.createElement('a')
    link.className = 'govuk-link'
    link.href = refresh.href
    link.textContent = action ?? ''
    if (kind !== '' || said !== '') status.replaceChildren(text, ...(action ? [link] : []))
    if (kind !== '') status.setAttribute('aria-live', 'off')
    said = kind
  }

  timer = setTimeout(look, often)
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden && said !== 'end') look()
  })
}

const age = ms => {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}
