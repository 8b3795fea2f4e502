import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Ports below those that systems give to outgoing connections; each worker of a run of tests has its own. */
const PORTS = 3_000
const first = 20_000 + (Number(process.env.VITEST_POOL_ID ?? 0) % 4) * PORTS
let next = randomInt(PORTS)

/** A port of the loopback address that nobody listens on, and that this worker gives to nobody else soon. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (next++ % PORTS)
    const probe = createServer().listen({ host: '127.0.0.1', port })
    const free = await once(probe, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    await once(probe.close(), 'close')
    return port
  }
}
