import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Ports below those that processes of a test choose themselves (src/platform/lib/web/listen.ts) and that systems give to outgoing
 * connections, and above 10080, to which no browser connects; each of four workers has its own.
 */
const PORTS = 2_400
const first = 10_100 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * PORTS
let next = randomInt(PORTS)

/** A port of the loopback address that nobody listens on, and that this worker gives to nobody else soon. */
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
