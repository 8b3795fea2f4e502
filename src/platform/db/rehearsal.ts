import { type Deps, inTransaction } from '../deps.ts'
import { openMetrics } from '../lib/metrics.ts'

class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** A dry run: does what a request would do, then rolls back. Only for operations that touch nothing but the database. */
export async function rehearse<Given extends Deps, Done>(
  deps: Given,
  work: (inside: Given) => Promise<Done>,
): Promise<Done> {
  const done: Done[] = []
  const rateLimiter = { count: () => ({ uses: 0, exceeded: false, endsInMs: 0 }), close: async () => {} }
  try {
    await inTransaction(deps, async (inside) => {
      done.push(await work({ ...inside, rateLimiter, metrics: openMetrics() }))
      throw new RolledBack()
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
  }
  return done[0] as Done
}
