/*
 * A form that changes something is sent once: after a second click the browser would show the second answer, which says that
 * the password is wrong, or lacks the secret that the first one made. Without this file that answer says what to do.
 */
;(() => {
  /** After that it may be sent again: whoever has stopped the browser is not stuck. */
  const ONCE_IN_MS = 30_000
  const sentAt = new WeakMap()
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (event.defaultPrevented || !form.matches('[method="post"]')) return
    if (sentAt.has(form) && event.timeStamp - sentAt.get(form) < ONCE_IN_MS) event.preventDefault()
    else sentAt.set(form, event.timeStamp)
  })
  // Back may show the page as it was left.
  window.addEventListener('pageshow', () => {
    for (const form of document.forms) sentAt.delete(form)
  })
})()
