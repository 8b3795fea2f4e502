/*
 * Times in the reader's time zone, also those that come later; the title, and what is printed, stay in UTC. Without this
 * file the times are in UTC and say so.
 */
;(() => {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    // Not by dateStyle and timeStyle, which Safari 14 ignores and Chromium 89 turns into 2026/11/2820:04:26 in Chinese.
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
  const localize = () => {
    for (const time of document.querySelectorAll('time[title]:not([data-local])')) {
      const local = format.format(new Date(time.dateTime))
      const isWhole = time.textContent === time.title
      time.dataset.local = isWhole ? local : ''
      if (isWhole) time.textContent = local
      else time.title = `${local} (${time.title})`
    }
  }
  const showEach = (text) => {
    for (const time of document.querySelectorAll('time[data-local]:not([data-local=""])')) time.textContent = text(time)
  }
  window.addEventListener('beforeprint', () => showEach((time) => time.title))
  window.addEventListener('afterprint', () => showEach((time) => time.dataset.local))
  new MutationObserver(localize).observe(document.body, { childList: true, subtree: true })
  localize()

  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const [note, name] = document.querySelectorAll('[data-zone], [data-zone] bdi')
  const shown = document.querySelector('[data-time-zone]')
  if (note && zone && !shown) {
    name.textContent = zone
    note.hidden = false
  }

  // Pages of the account that are made of days: the server is told where the reader is, and such a page is asked for again.
  if (!zone || !location.pathname.startsWith('/account')) return
  const cookie = `gatehouse_time_zone=${encodeURIComponent(zone)}`
  // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
  document.cookie = `${cookie}; path=/account; samesite=lax${location.protocol === 'https:' ? '; secure' : ''}`
  // Safari before 15 does not say: there the page shows the zone when it is opened next.
  const [way] = performance.getEntriesByType('navigation')
  const isFirst = way && way.type !== 'reload'
  if (shown && shown.dataset.timeZone !== zone && isFirst && document.cookie.includes(cookie)) location.reload()
})()
