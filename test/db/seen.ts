/** Collects what is seen while some work runs, and nothing before or after. */
export class Seen<One> {
  readonly #all: One[] = []
  #watching = false

  /** Calls `one` only while work runs. */
  add(one: () => One | undefined): void {
    const seen = this.#watching ? one() : undefined
    if (seen !== undefined) this.#all.push(seen)
  }

  /** What was seen while `work` ran. */
  async during(work: () => Promise<unknown>): Promise<One[]> {
    this.#all.length = 0
    this.#watching = true
    await work().finally(() => {
      this.#watching = false
    })
    return [...this.#all]
  }
}
