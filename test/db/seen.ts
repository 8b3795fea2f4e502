/** Keeps what is seen while something is done, and nothing of before or after. */
export class Seen<One> {
  readonly #all: One[] = []
  #watching = false

  /** `one` is asked for only while something is done. */
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
