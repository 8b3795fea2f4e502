/*
 * A form that changes something is sent once: after a second click the browser would show the second answer, which says
 * that the password is wrong, or lacks the secret that the first one made. Without this file that answer says what to do.
 *
 * A form whose sender had to sign in first was not sent. The tab keeps what was typed, except secrets, until the page to
 * which the sign-in leads back, at #unsent, gives it back to the form. Without this file it has to be typed again.
 */
;(() => {
  /** After that it may be sent again: whoever has stopped the browser is not stuck. */
  const ONCE_IN_MS = 30_000
  const sentAt = new WeakMap()
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (event.defaultPrevented || !form.matches('[method="post"]')) return
    if (sentAt.has(form) && event.timeStamp - sentAt.get(form) < ONCE_IN_MS) return event.preventDefault()
    sentAt.set(form, event.timeStamp)
    if (!isSignIn) keep(form)
  })
  // Back may show the page as it was left.
  window.addEventListener('pageshow', () => {
    for (const form of document.forms) sentAt.delete(form)
  })

  const KEPT = 'unsent'
  const isSignIn = /^\/((console|sandbox)\/)?sign-in(\/|$)/.test(location.pathname)
  const UNKEPT_KINDS = ['hidden', 'password', 'file', 'submit', 'button', 'fieldset', 'output']
  const SECRET = /password|secret|token|code/i
  /** Hidden, but it says which state of the record was edited: with that of the new page others' changes would be undone. */
  const SEEN = 'unchanged_since'
  const fieldsOf = (form) =>
    [...form.elements].filter(
      ({ name, type, dataset }) =>
        name === SEEN || (name && !UNKEPT_KINDS.includes(type) && !SECRET.test(name) && dataset.secret === undefined),
    )
  const isBox = ({ type }) => type === 'checkbox' || type === 'radio'
  /** The same form on a page of the same person. */
  const sameAs = (form) => {
    const owner = form.querySelector('[name="form_of"]')
    return owner && `${form.getAttribute('action')} ${owner.value}`
  }

  function keep(form) {
    const fields = fieldsOf(form).map((field) => [field.name, field.value, isBox(field) ? field.checked : null])
    if (sameAs(form)) sessionStorage.setItem(KEPT, JSON.stringify({ of: sameAs(form), fields }))
  }

  function giveBack({ of, fields }) {
    const form = [...document.forms].find((one) => sameAs(one) === of)
    for (const field of form ? fieldsOf(form) : []) {
      const typed = fields.find(
        ([name, value, checked]) => name === field.name && (checked === null || value === field.value),
      )
      if (!typed) continue
      if (isBox(field)) field.checked = typed[2]
      else field.value = typed[1]
    }
    for (let part = form; part; part = part.parentElement) if (part.matches('details')) part.open = true
    if (form) for (const part of form.querySelectorAll('details')) part.open = true
  }

  const kept = isSignIn ? null : sessionStorage.getItem(KEPT)
  if (kept) sessionStorage.removeItem(KEPT)
  if (kept && location.hash === '#unsent') giveBack(JSON.parse(kept))
})()
