import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
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

/** Below those that systems give to outgoing connections (Linux from 32768): none of these can come in between. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/** A port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (await isFree(port)) return port
  }
  throw new Error(`none of ${TRIES} ports between ${PORTS.from} and ${PORTS.to} is free`)
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1')
  const listens = await once(probe, 'listening').then(
    () => true,
    () => false,
  )
  if (listens) await once(probe.close(), 'close')
  return listens
}
