import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { ConcurrencyLimit } from '../lib/concurrency-limit.ts'

/**
 * Resolves partners' host names. `dns.lookup` blocks one of the four threads that password hashing and file reads also
 * use, for many seconds if a name server is silent. So names are looked up in the hosts file, then by DNS queries of
 * our own. The system resolver is the last resort (search domains, other name services), for one name at a time, and
 * only for names that no stranger's name server is asked about, which could hold that place for ever: those without a
 * dot, and `trusted` ones.
 */
export type HostResolver = (hostname: string, trusted: boolean) => Promise<LookupAddress[]>

type SystemResolver = (hostname: string) => Promise<LookupAddress[]>

export interface ResolverOptions {
  /** Name servers, `address:port`; those of the system by default. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  readonly askSystem?: SystemResolver
}

const HOSTS_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
/** The second try waits twice as long: 2.4 s in all with one name server. The connect timeout may end first. */
const QUERY = { timeout: 800, tries: 2 }
/** How long to wait for the other address family once one has answered. */
const OTHER_FAMILY_MS = 200
/** More are not tried: thousands fit into one answer, and each is checked. */
const MAX_ADDRESSES = 16
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

const systemLookup = promisify(lookup)

function systemResolver(): SystemResolver {
  const slots = new ConcurrencyLimit({ name: "the system's resolver", most: 1, length: 50, waitMs: 3_000 })
  return (hostname) => slots.run(() => systemLookup(hostname, { all: true }))
}

export function hostResolver({
  servers,
  hostsFile = HOSTS_FILE,
  askSystem = systemResolver(),
}: ResolverOptions = {}): HostResolver {
  const lookUpInFile = hostsFileReader(hostsFile)
  return async (hostname, trusted) => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const listed = await lookUpInFile(name)
    if (listed.length > 0) return listed
    if (name === 'localhost' || name.endsWith('.localhost')) return [...LOOPBACK]
    const { found, error } = await queryAddresses(name, servers)
    if (found.length > 0) return found.slice(0, MAX_ADDRESSES)
    // After a timeout the system resolver would wait just as long.
    if (error.code === 'ETIMEOUT' || (name.includes('.') && !trusted)) throw error
    return askSystem(name)
  }
}

interface Queried {
  readonly found: LookupAddress[]
  /** Why nothing was found; ETIMEOUT if any query timed out. */
  readonly error: NodeJS.ErrnoException
}

async function queryAddresses(name: string, servers: readonly string[] | undefined): Promise<Queried> {
  const resolver = new Resolver(QUERY) // picks up changes of the system's name servers
  if (servers) resolver.setServers(servers)
  const found: LookupAddress[] = []
  let error: NodeJS.ErrnoException = Object.assign(new Error('no addresses'), { code: 'ENODATA' })
  const ask = (family: 4 | 6) =>
    (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name)).then(
      (addresses) => {
        found.push(...addresses.map((address) => ({ address, family })))
        return addresses.length > 0
      },
      (failure: NodeJS.ErrnoException) => {
        if (error.code !== 'ETIMEOUT') error = failure
        return false
      },
    )
  const both = [ask(4), ask(6)]
  const all = Promise.all(both)
  // The first family with addresses starts the short wait for the other.
  const first = Promise.any(both.map((lookup) => lookup.then((has) => has || Promise.reject(new Error('none')))))
  const late = first.then(() => sleep(OTHER_FAMILY_MS, undefined, { ref: false }))
  await Promise.race([all, late.catch(() => all)])
  resolver.cancel()
  return { found: found.sort((a, b) => a.family - b.family), error }
}

/** Looks names up in the hosts file, re-read whenever it changes. */
function hostsFileReader(path: string): SystemResolver {
  let readAt = Number.NaN
  let names = new Map<string, LookupAddress[]>()
  return async (name) => {
    const changedAt = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    )
    if (changedAt !== readAt) {
      names = parseHosts(await readFile(path, 'utf8').catch(() => ''))
      readAt = changedAt
    }
    return names.get(name) ?? []
  }
}

function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...hosts] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const host of hosts) {
      const name = host.toLowerCase()
      names.set(name, [...(names.get(name) ?? []), { address, family }])
    }
  }
  return names
}
