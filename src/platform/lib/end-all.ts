type End = () => unknown

/** Ends the parts of a program one after the other, also after one that has failed; then throws the first failure. */
export async function endInOrder(...parts: readonly End[]): Promise<void> {
  const failures: unknown[] = []
  for (const end of parts) {
    try {
      await end()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Ends all of them at once, and waits for all; then throws the first failure. */
export async function endTogether(...parts: readonly End[]): Promise<void> {
  const ended = await Promise.allSettled(parts.map(async (end) => end()))
  const failed = ended.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
