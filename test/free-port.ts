import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A range for each of four workers: below the ports that our own processes choose (src/platform/lib/web/listen.ts) and that
 * systems give to outgoing connections, and above 10080, the highest port that browsers block.
 */
const PORTS = 2_400
const first = 10_100 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * PORTS
let next = randomInt(PORTS)

/** A free port on loopback that this worker will not hand out again soon. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % PORTS)
    const probe = createServer().listen({ host: '127.0.0.1', port })
    const free = await once(probe, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error
        return false
      },
    )
    if (!free) continue
    await once(probe.close(), 'close')
    return port
  }
}
