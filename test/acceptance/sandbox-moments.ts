import type { Page } from 'playwright-core'

/** Measures inside the page how long a person waits for the first line of a step's log. */

interface Watching {
  firstLine?: Promise<number>
}

/** Starts watching; the next form to be submitted must be Start, and the log must still be empty. */
export const watchForFirstLine = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const watching = globalThis as Watching
    watching.firstLine = new Promise((resolve) => {
      let pressed = Number.NaN
      const press = () => {
        pressed = performance.now()
      }
      document.addEventListener('submit', press, { capture: true, once: true })
      const observer = new MutationObserver(() => {
        if (!document.querySelector('#lines > li')) return
        observer.disconnect()
        resolve(performance.now() - pressed)
      })
      observer.observe(document.body, { childList: true, subtree: true })
    })
  })

export const firstLineOf = (page: Page): Promise<number> =>
  page.evaluate(async () => (await (globalThis as Watching).firstLine) ?? Number.NaN)

/** How long it takes to load the page itself again. */
export const loadOf = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const began = performance.now()
    await (await fetch(location.href)).text()
    return performance.now() - began
  })

export const median = (all: readonly number[]): number =>
  [...all].sort((left, right) => left - right)[all.length >> 1] ?? Number.NaN
