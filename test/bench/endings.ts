/**
 * What has been started, to be ended in the opposite order; also when a signal ends the benchmark half-way. One end that
 * fails must not keep the others from being tried.
 */
export class Endings {
  readonly #ends: (() => unknown)[] = []

  add(end: () => unknown): void {
    this.#ends.push(end)
  }

  async run(): Promise<void> {
    const failures: unknown[] = []
    for (let end = this.#ends.pop(); end; end = this.#ends.pop()) {
      try {
        await end()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
