/**
 * Runs work with a signal that aborts when `signal` does or after `ms` milliseconds; at once with 0. AbortSignal.any
 * with AbortSignal.timeout would not do: Node 20 garbage-collects a timeout that only any() refers to, so that it never
 * fires.
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
