/*
 * The page of a test run, improved: lines appear as they happen, forms change the page in place, and the remaining time
 * runs down. Without this file every button is a form, and the page loads itself again.
 */
;(() => {
  const main = document.getElementById('main')
  const run = document.getElementById('run')
  if (!main || !run) return

  const RETRY_MS = 3_000
  /** Lines after which the parts about the step say something else. */
  const CHANGES_NOW = ['notice', 'rejected', 'unverified', 'wrong-path', 'check']
  let source
  let loading // the page that is on its way
  let asked // for once more after it: which regions, all where none are named
  let acted = 0 // forms sent and answered: a page that was asked for before knows less than the answer
  let leaving = false // for another page: going there twice would break off the first way
  let sending = 0 // forms that wait for their answer, which shows the whole page anew
  let listedStep // the step to which the list of steps was scrolled
  let lastSeq = Number(run.dataset.seq ?? 0)
  /** Lines of the present attempt that the stream has brought. */
  const streamed = new Map()

  /* --- regions: parts of the page that are replaced by their like in a page that was loaded anew ------------------ */

  const regionsOf = (page) => [...page.querySelectorAll('[data-region]')]

  /** Regions as they came, without what scripts and people have done to them since. */
  const came = new Map(regionsOf(main).map((region) => [region.id, region.outerHTML]))

  const stepList = () => main.querySelector('.steps ol')

  const unfolded = () => [...main.querySelectorAll('details[id][open]')].map(({ id }) => id)

  function swap(text, only, answered = false) {
    const fresh = new DOMParser().parseFromString(text, 'text/html')
    if (!fresh.getElementById('run')) return false
    const open = unfolded()
    const focused = document.activeElement?.closest('[data-region]') ? document.activeElement : null
    const scrolled = stepList()?.scrollTop
    const ids = (page) => regionsOf(page).map(({ id }) => id)
    const isOther = ids(main).join() !== ids(fresh).join()
    // Regions come and go, such as the log of a step: then all is new. What asked for some of them gets them next time.
    if (isOther && !only) {
      for (const region of regionsOf(fresh)) came.set(region.id, region.outerHTML)
      run.replaceChildren(...fresh.getElementById('run').childNodes)
      main.querySelector('.run-title').replaceWith(fresh.querySelector('.run-title'))
    }
    for (const old of isOther ? [] : regionsOf(main)) {
      if (only && !only.includes(old.id)) continue
      const next = fresh.getElementById(old.id)
      if (!next || next.outerHTML === came.get(old.id)) continue
      came.set(old.id, next.outerHTML)
      // What a form was answered stays until the next one is sent.
      if (!answered && !next.querySelector('[role="alert"]')) next.prepend(...old.querySelectorAll('[role="alert"]'))
      old.replaceWith(document.adoptNode(next))
    }
    addStreamed()
    document.title = fresh.title
    for (const id of open) document.getElementById(id)?.setAttribute('open', '')
    const list = stepList()
    if (list && scrolled !== undefined) list.scrollTop = scrolled
    if (focused && !focused.isConnected) likeness(focused)?.focus({ preventScroll: true })
    improve()
    return true
  }

  /** The element of the new page that stands where this one stood. */
  function likeness(element) {
    if (element.id) return document.getElementById(element.id)
    const form = element.closest('form')
    if (form) return document.querySelector(`form[action="${CSS.escape(form.getAttribute('action'))}"] button`)
    const href = element.getAttribute('href')
    const link = href && document.querySelector(`#run a[href="${CSS.escape(href)}"]`)
    return link || document.getElementById(element.closest('[data-region]').id)
  }

  /** One at a time. Whoever asks meanwhile shares the next one, which knows of everything. */
  function reload(only) {
    if (asked) asked.only = asked.only && only && [...asked.only, ...only]
    else {
      asked = { only }
      asked.done = loadNext()
    }
    return asked.done
  }

  async function loadNext() {
    await loading
    const { only } = asked
    asked = undefined
    loading = load(only).catch(() => false)
    // The network is away, or the service: nothing is lost, it only comes later.
    if (!(await loading)) setTimeout(() => reload(only), RETRY_MS)
  }

  async function load(only) {
    if (leaving) return true
    const before = acted
    const response = await fetch(location.href, { headers: { Accept: 'text/html' } })
    if (leads(response.url)) return true
    const text = await response.text()
    if (sending > 0) return true
    return before === acted ? response.ok && swap(text, only) : load(only)
  }

  /** Leaves for another page, such as the sign-in, when that is where the answer came from. */
  function leads(url) {
    if (new URL(url).pathname.startsWith('/sandbox/run/')) return false
    if (!leaving) location.reload()
    leaving = true
    stop()
    return true
  }

  /* --- lines as they happen --------------------------------------------------------------------------------------- */

  function follow() {
    if (!run.dataset.follow || source || document.hidden || leaving) return
    source = new EventSource(`${run.dataset.follow}?after=${lastSeq}`)
    source.onmessage = ({ lastEventId, data }) => line(Number(lastEventId), JSON.parse(data))
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED) return
      // Refused: too many streams, or the session is over. The page itself says which.
      stop()
      setTimeout(() => reload().then(follow), RETRY_MS)
    }
  }

  /** Whoever sees the page again did not leave it. */
  function goOn() {
    leaving = false
    reload().then(follow)
  }

  function stop() {
    source?.close()
    source = undefined
  }

  /** Puts lines where they belong that the page does not have: it may be older than they are. */
  function addStreamed() {
    const lines = document.getElementById('lines')
    const shown = document.getElementById('log')?.dataset.attempt
    for (const [seq, { html, attempt }] of streamed) {
      if (!lines || attempt !== shown || document.getElementById(`e${seq}`)) continue
      lines.insertAdjacentHTML('beforeend', html)
      came.delete('log')
    }
  }

  function line(seq, { html, state }) {
    if (seq <= lastSeq) return
    lastSeq = seq
    // A new attempt begins with its first line; what is shown of an earlier one is whole.
    if (state.kind === 'started') streamed.clear()
    streamed.set(seq, { html, attempt: state.attempt })
    addStreamed()
    if (state.kind === 'started' || state.kind === 'ended' || state.kind === 'waiting') reload()
    else if (CHANGES_NOW.includes(state.kind)) reload(['now', 'steps'])
  }

  /** What is said once must not be said again when the page is loaded anew. */
  function withoutMessages(address) {
    const url = new URL(address)
    for (const name of ['refused', 'checked', 'all']) url.searchParams.delete(name)
    return url.href
  }

  /* --- forms ------------------------------------------------------------------------------------------------------- */

  main.addEventListener('submit', async (event) => {
    const form = event.target
    if (!form.matches('form[data-live]')) return
    event.preventDefault()
    if (form.getAttribute('aria-busy')) return
    form.setAttribute('aria-busy', 'true')
    leaving = false // whoever can still press a button did not leave
    acted++
    sending++
    const seqBefore = lastSeq
    try {
      const response = await fetch(form.action, {
        method: 'POST',
        headers: { Accept: 'text/html' },
        body: new URLSearchParams(new FormData(form)),
      })
      if (leads(response.url)) return
      const text = await response.text()
      acted++
      if (!response.ok) return showRefusal(text)
      history.replaceState(null, '', withoutMessages(response.url))
      if (!swap(text, undefined, true)) location.reload()
      // The person has acted: what to do now is where reading goes on.
      else document.getElementById(new URL(response.url).searchParams.has('checked') ? 'acceptance' : 'now').focus()
      form.removeAttribute('aria-busy')
      follow()
      // Lines have come while the answer was on its way: it may be older than they are.
      if (lastSeq !== seqBefore) reload()
    } catch {
      form.removeAttribute('aria-busy')
      if (!leaving) location.reload()
    } finally {
      sending--
    }
  })

  /** The answer's own page says why; loaded again, it is the page of the run. */
  function showRefusal(text) {
    leaving = true
    stop()
    document.open() // takes away what listens here
    document.write(text)
    document.close()
  }

  /* --- the clock, and where the run stands ------------------------------------------------------------------------- */

  function improve() {
    for (const timer of main.querySelectorAll('[data-left]:not([data-end])')) {
      timer.dataset.end = performance.now() + Number(timer.dataset.left) * 1_000
    }
    // Whoever scrolls the list stays where they are until the run, or they, get to another step.
    const list = stepList()
    const step = list?.querySelector('.shown') ?? list?.querySelector('[aria-current="step"]')
    const href = step?.querySelector('a').href
    if (!href || href === listedStep) return
    listedStep = href
    list.scrollTop = step.offsetTop - list.offsetTop - (list.clientHeight - step.clientHeight) / 2
  }

  setInterval(() => {
    for (const timer of main.querySelectorAll('[data-end]')) {
      const left = Math.max(0, Math.round((Number(timer.dataset.end) - performance.now()) / 1_000))
      timer.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`
    }
  }, 1_000)

  // A browser opens six connections to one place, so only the tab that is looked at holds one.
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : goOn()))
  window.addEventListener('pagehide', stop)
  window.addEventListener('pageshow', ({ persisted }) => persisted && goOn())

  improve()
  follow()
})()
