import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'

const UNKNOWN_NAME = 'HOST is no address, and no name that can be looked up'

/** HOST is replaced by the name of the setting with the address. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; choose another one',
  EACCES: 'this user may not use that port; choose a port above 1023',
  EADDRNOTAVAIL: 'HOST is not an address of this machine',
  ENOTFOUND: UNKNOWN_NAME,
  EAI_AGAIN: UNKNOWN_NAME,
}

/**
 * Connections that the kernel completes before this process accepts them; Linux allows 4096 (net.core.somaxconn). With
 * Node's 511, some of a thousand that are opened at once wait for a second or three until TCP tries again.
 */
export const BACKLOG = 4_096

/** Listens, or throws an error that says which setting to change. */
export async function listenOn(app: FastifyInstance, host: string, port: number, setting: string): Promise<void> {
  await app.listen({ host, port, backlog: BACKLOG }).catch((error: NodeJS.ErrnoException) => {
    throw new Error(unusablePort(setting, host, port, error))
  })
}

export interface WantedPort {
  readonly setting: string
  readonly host: string
  /** 0 means any free port and is not checked. */
  readonly port: number
}

/** Checks all ports before anything listens; throws one line for each that is unavailable. */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const fixed = wanted.filter(({ port }) => port !== 0)
  const problems = await Promise.all(
    fixed.map(async ({ setting, host, port }, place) => {
      const first = fixed.findIndex((other) => other.port === port)
      if (first < place) return `${setting} is ${port}, as ${fixed[first]?.setting} is; choose another one`
      const failure = await failureToListen(host, port)
      return failure ? unusablePort(setting, host, port, failure) : []
    }),
  )
  const lines = problems.flat()
  if (lines.length > 0) throw new Error(lines.join('\n'))
}

export function unusablePort(setting: string, host: string, port: number, error: NodeJS.ErrnoException): string {
  const hostSetting = setting === 'ADMIN_PORT' ? 'ADMIN_HOST' : 'HOST'
  const remedy = REMEDIES[error.code ?? '']?.replace('HOST', hostSetting) ?? error.message
  return `${setting} ${port} on ${host} cannot be used: ${remedy}`
}

async function failureToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  // Exclusive, because node:cluster would share the port with other processes.
  const probe = createServer().listen({ host, port, exclusive: true })
  const failure = await once(probe, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  )
  if (failure === undefined) await once(probe.close(), 'close')
  return failure
}

/** Below the ephemeral ports (Linux: from 32768), so that no outgoing connection can take it in the meantime. */
const PORTS = { from: 20_000, to: 32_000 }
const TRIES = 100

/** A loopback port on which nothing listens, and which is not among `wanted`. */
export async function freePort(wanted: readonly (number | undefined)[] = []): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = randomInt(PORTS.from, PORTS.to)
    if (!wanted.includes(port) && (await failureToListen('127.0.0.1', port)) === undefined) return port
  }
  throw new Error(`none of ${TRIES} ports between ${PORTS.from} and ${PORTS.to} is free`)
}
