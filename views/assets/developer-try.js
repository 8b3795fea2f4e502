/* Sends the forms of the API reference and shows the answer beside them; without this script the browser opens it. */
const LONGEST_SHOWN = 20_000

for (const part of document.querySelectorAll('[data-needs-script]')) part.hidden = false

const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const send = async (form) => {
  const filled = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''))
  const inQuery = form.dataset.place === 'query'
  const bearer = form.querySelector('[data-bearer]')
  const token = bearer && bearer.value.trim()
  const action = form.getAttribute('action')
  const answer = await fetch(inQuery && `${filled}` ? `${action}?${filled}` : action, {
    method: form.method,
    body: inQuery ? undefined : filled,
    headers: token ? { Authorization: `Bearer ${token}` } : {},
    // As an app would call: nothing of the reader's own session.
    credentials: 'omit',
    cache: 'no-store',
  })
  const text = (await answer.text()).slice(0, LONGEST_SHOWN)
  return `${answer.status} ${answer.statusText}\n\n${pretty(text)}`
}

document.addEventListener('submit', async (event) => {
  const form = event.target
  if (!form.matches('[data-try]')) return
  event.preventDefault()
  const shown = form.querySelector('output')
  shown.textContent = await send(form).catch(() => form.dataset.failed)
  shown.className = 'answered'
})
