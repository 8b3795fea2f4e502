/**
 * Runs work with a signal that aborts when `signal` does or after `ms` milliseconds; at once with 0. (In Node 20 an
 * AbortSignal.timeout that only AbortSignal.any refers to is garbage-collected, and never fires.)
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
