/* Passkeys. The form's data-passkey is "create" or "get", data-options what the browser is asked, in JSON; its answer is sent with the form. */
const form = document.querySelector('form[data-passkey]')

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (letter) => letter.charCodeAt(0))
const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, '-')
    .replace(/\//g, '_')
    .replace(/=/g, '')

const optionsOf = () => {
  const options = JSON.parse(form.dataset.options)
  options.challenge = bytesOf(options.challenge)
  if (options.user) options.user.id = bytesOf(options.user.id)
  const withBytes = (list) => list && list.map((one) => ({ ...one, id: bytesOf(one.id) }))
  options.excludeCredentials = withBytes(options.excludeCredentials)
  options.allowCredentials = withBytes(options.allowCredentials)
  return options
}

const send = ({ id, rawId, type, response }) => {
  const answer = { transports: response.getTransports && response.getTransports() }
  for (const name of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle']) {
    if (response[name]) answer[name] = textOf(response[name])
  }
  form.elements.credential.value = JSON.stringify({
    id,
    rawId: textOf(rawId),
    type,
    response: answer,
    clientExtensionResults: {},
  })
  form.submit()
}

/* Whoever cancels stays on the page; any other failure is told. */
const tell = ({ name }) => {
  if (name === 'NotAllowedError' || name === 'AbortError') return
  const alert = form.querySelector('[data-failed]')
  alert.textContent = (name === 'InvalidStateError' && alert.dataset.known) || alert.dataset.failed
  alert.hidden = false
}

const ask = (how, failed) =>
  navigator.credentials[form.dataset.passkey]({ publicKey: optionsOf(), ...how }).then(send, failed)

if (form && window.PublicKeyCredential) {
  form.hidden = false
  for (const note of document.querySelectorAll('[data-without-passkeys]')) note.hidden = true
  let waiting = new AbortController()
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    form.querySelector('[data-failed]').hidden = true
    waiting.abort()
    waiting = new AbortController()
    ask({ signal: waiting.signal }, tell)
  })
  /* The browser offers passkeys in the field of the username. */
  if (form.dataset.passkey === 'get' && PublicKeyCredential.isConditionalMediationAvailable) {
    PublicKeyCredential.isConditionalMediationAvailable().then((isAvailable) => {
      if (isAvailable) ask({ mediation: 'conditional', signal: waiting.signal }, () => undefined) // nobody has asked
    })
  }
}
