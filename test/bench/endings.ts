/** What has been started, to be ended in the opposite order; also when a signal ends the benchmark half-way. */
export class Endings {
  readonly #ends: (() => unknown)[] = []

  add(end: () => unknown): void {
    this.#ends.push(end)
  }

  async run(): Promise<void> {
    for (let end = this.#ends.pop(); end; end = this.#ends.pop()) await end()
  }
}
