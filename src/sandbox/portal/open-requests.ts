/** Requests that stay open: each holds a connection, so they are limited, and all end before shutdown. */
export class OpenRequests {
  readonly #open = new Map<AbortController, readonly string[]>()
  #areOver = false

  /** `limits`: how many may be open by each key; throws `refuse(key)` beyond. `signal` aborts when it has to end. */
  open(limits: Readonly<Record<string, number>>, refuse: (key: string) => Error) {
    const open = [...this.#open.values()].flat()
    for (const [key, most] of Object.entries(limits)) {
      if (open.filter((other) => other === key).length >= most) throw refuse(key)
    }
    const abort = new AbortController()
    this.#open.set(abort, Object.keys(limits))
    if (this.#areOver) abort.abort()
    const close = () => {
      this.#open.delete(abort)
      abort.abort()
    }
    return { signal: abort.signal, close }
  }

  /** Those that open later end at once. */
  endAll(): void {
    this.#areOver = true
    for (const abort of [...this.#open.keys()]) abort.abort()
  }
}
