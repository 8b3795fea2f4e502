/**
 * Cleanup functions for everything that was started, run in reverse order, even if a signal interrupts the benchmark. If
 * one fails, the others still run.
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
