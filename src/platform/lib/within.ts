/**
 * Work whose signal aborts when `signal` does or so many milliseconds are over; at once with 0. Not by AbortSignal.any
 * and AbortSignal.timeout: Node 20 collects a timeout that only any() knows of, and then nothing ends the work.
 */
export async function within<Result>(
  ms: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController()
  const end = (): void => over.abort()
  if (ms === 0 || signal.aborted) end()
  signal.addEventListener('abort', end)
  const timer = setTimeout(end, ms)
  try {
    return await work(over.signal)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
