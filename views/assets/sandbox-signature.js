/*
 * The page of the signature tool, improved: calls that arrive are shown without a reload. Without this file a link loads
 * the page again.
 */
;(() => {
  const EVERY_MS = 2_500
  /** Parts of the page as they came, without what other scripts have done to them since. */
  const came = new Map([...document.querySelectorAll('[data-live]')].map((part) => [part.id, part.innerHTML]))

  function swap(text) {
    const fresh = new DOMParser().parseFromString(text, 'text/html')
    for (const [id, before] of came) {
      const next = fresh.getElementById(id)
      if (!next || next.innerHTML === before) continue
      came.set(id, next.innerHTML)
      const part = document.getElementById(id)
      const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null
      part.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)))
      if (focused) part.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true })
    }
  }

  async function look() {
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } })
    // The session is over: the page itself says so.
    if (new URL(response.url).pathname !== location.pathname) location.assign(response.url)
    else if (response.ok) swap(await response.text())
  }

  /** One look after the other, while the page is looked at. What fails is tried again. */
  async function follow() {
    if (!document.hidden) await look().catch(() => {})
    setTimeout(follow, EVERY_MS)
  }
  // Whoever looks at the newest call, such as the one just pasted, is shown the next one too.
  if (document.querySelector('.calls a')?.hasAttribute('aria-current'))
    history.replaceState(null, '', location.pathname)
  setTimeout(follow, EVERY_MS)
})()
