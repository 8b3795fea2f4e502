import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'

const MENDS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken; choose another one',
  EACCES: 'this user may not listen there; choose a port above 1023',
  EADDRNOTAVAIL: 'HOST is not an address of this machine',
}

/** Listens, or says which setting to change. */
export async function listenOn(app: FastifyInstance, host: string, port: number, setting: string): Promise<void> {
  await app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${setting} ${port} on ${host} cannot be used: ${MENDS[error.code ?? ''] ?? error.message}`)
  })
}

/** A port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
