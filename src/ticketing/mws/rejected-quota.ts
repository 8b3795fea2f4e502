import type { Deps } from '../../platform/deps.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { networkOf } from '../../platform/throttle/index.ts'

/** Characters kept of a rejected call. Anybody can send one, and reason and headers are enough to understand it. */
export const LONGEST_ENTRY = {
  verified: { headers: 4_096, body: 16_384 },
  unverified: { headers: 2_048, body: 1_024 },
} as const

const FIVE_MINUTES_S = 300
/** Bytes are counted in blocks. */
const BLOCK = 4_096

/** Limits of one clientId: calls in five minutes, blocks in five minutes and in a day. */
const QUOTAS = {
  verified: { calls: 200, blocks: 256, blocksADay: 8_192 },
  unverified: { calls: 50, blocks: 50, blocksADay: 1_024 },
} as const
/** Unverified calls of one clientId and network in five minutes, so that a stranger leaves room for the partner. */
const UNVERIFIED_OF_CLIENT_AND_NETWORK = 25
/** Unverified calls a day, from one network, so that no stranger can use up the quota of all, and from all. */
const UNVERIFIED_OF_NETWORK = 1_000
const UNVERIFIED_OF_ALL = 20_000

interface Entry {
  readonly clientId: string
  readonly address: string | undefined
  readonly verified: boolean
  readonly bytes: number
}

/**
 * Counts an entry that is about to be kept, over all processes. Verified calls of a clientId may take 1 MiB in five
 * minutes and 32 MiB a day, unverified ones 4 MiB a day, and those of all partners some 60 MB a day. If a quota is used
 * up, returns the time until it is open again.
 */
export function exceededQuota({ rateLimiter }: Deps, entry: Entry): { readonly endsInMs: number } | undefined {
  const { clientId, address, verified, bytes } = entry
  const kind = verified ? 'rejected verified' : 'rejected unverified'
  const { calls, blocks, blocksADay } = QUOTAS[verified ? 'verified' : 'unverified']
  const count = (what: string, most: number, windowS: number, subject: string, uses = 1) => {
    const counted = rateLimiter.count({ kind: `${kind} ${what}`, most, windowS }, subject, uses)
    return counted.exceeded ? counted : undefined
  }
  const size = Math.max(1, Math.ceil(bytes / BLOCK))
  const network = address === undefined ? undefined : networkOf(address)
  const subject = `${clientId}\n${network}`
  const ofBoth =
    network === undefined || verified
      ? undefined
      : count('calls of network', UNVERIFIED_OF_CLIENT_AND_NETWORK, FIVE_MINUTES_S, subject)
  const ofClient =
    ofBoth ??
    count('calls', calls, FIVE_MINUTES_S, clientId) ??
    count('blocks', blocks, FIVE_MINUTES_S, clientId, size) ??
    count('blocks a day', blocksADay, DAY_S, clientId, size)
  if (ofClient || verified) return ofClient
  const ofNetwork = network === undefined ? undefined : count('of network', UNVERIFIED_OF_NETWORK, DAY_S, network)
  return ofNetwork ?? count('of all', UNVERIFIED_OF_ALL, DAY_S, '')
}
