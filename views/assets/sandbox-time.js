/* Adds the reader's own time to times in UTC, also to those that come later; data-local is the words for it. */
;(() => {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'medium' })
  const addLocal = () => {
    for (const time of document.querySelectorAll('time[data-local]:not([data-added])')) {
      time.dataset.added = ''
      const local = time.dataset.local.replace('*', format.format(new Date(time.dateTime)))
      if (time.title) time.title += local
      else time.append(local)
    }
  }
  new MutationObserver(addLocal).observe(document.body, { childList: true, subtree: true })
  addLocal()
})()
