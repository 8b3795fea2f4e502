import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import { type DerivedKeys, everyKey } from '../lib/crypto/keys.ts'
import { operation } from '../lib/json/input.ts'
import { localized } from '../lib/localized-text.ts'
import { RescodeError } from '../lib/web/rescode.ts'
import { keyIdOf, MAC_BYTES, NOTHING_BEFORE, ROW_DIGEST_BYTES, rowDigest, sealMac } from './seal.ts'
import { type Seal, sealsAfter } from './seal-store.ts'
import { countEvents, findEventsById, keptSince } from './store.ts'
import { type Verification, verification } from './wire.ts'

interface AuditProblem {
  readonly seal_no: bigint
  /** Sealed between these. */
  readonly first_at: Date
  readonly last_at: Date
  /** The row that is wrong; null where the seal itself is. */
  readonly audit_id: string | null
  readonly problem: string
}

export interface Verified {
  /** Every seal and every row could be verified, and none is missing or altered. */
  readonly intact: boolean
  /** Nothing is known to be missing or altered, but some of it could not be verified. */
  readonly unverifiable: boolean
  /** Rows that are as they were when they were sealed. */
  readonly rows: number
  readonly seals: number
  /** Rows of the last seconds, which no seal covers yet. */
  readonly unsealed: number
  /** Rows that no seal names: written by hand. */
  readonly outside: number
  /** Rows that are gone and older than AUDIT_DAYS. */
  readonly purged: number
  /** Seals made with a SECRET_KEY that is not known here, whose rows cannot be verified; `problems` names each such key. */
  readonly other_key: number
  /** The first hundred. */
  readonly problems: readonly AuditProblem[]
  /** The end of the chain, `seal:MAC`: kept elsewhere, it shows later that nothing was cut off. Null without seals. */
  readonly head: string | null
}

const SEALS_AT_ONCE = 100
const MAX_PROBLEMS = 100

interface Tally {
  rows: number
  seals: number
  purged: number
  other_key: number
  missing: number
}

/** How long a verification over HTTP may take; on the machine of the service the command has no limit. */
const VERIFIED_WITHIN_S = 120

/** Reads the whole chain and every row that it names. */
export const verifyAudit = operation(verification, verify)

/** `verifyAudit` over HTTP: one at a time (20003, 429), and 20013 (503) once the time is over. */
export const verifyAuditInTime = (deps: Deps, given: Verification): Promise<Verified> =>
  deps.longReads.run(() => verifyAudit(deps, given, addSeconds(deps.clock.now(), VERIFIED_WITHIN_S)))

const tookTooLong = (): RescodeError => {
  const message = localized('verification-too-long')
  return new RescodeError(20013, { status: 503, message, detail: 'the verification took too long' })
}

async function verify(deps: Deps, { head }: Verification, until?: Date): Promise<Verified> {
  const { db, keys, clock, config } = deps
  const purgedBefore = keptSince(clock.now(), config.AUDIT_DAYS)
  const tally: Tally = { rows: 0, seals: 0, purged: 0, other_key: 0, missing: 0 }
  const problems: AuditProblem[] = []
  const unknownKeys = new Set<string>()
  const [headNo, headMac] = head?.split(':') ?? []
  let before: Seal | undefined
  let headSeen = head === undefined
  for (;;) {
    const seals = await sealsAfter(db, before?.seal_no ?? 0n, SEALS_AT_ONCE)
    if (seals.length === 0) break
    for (const seal of seals) {
      if (until && clock.now() >= until) throw tookTooLong()
      const report = (problem: string, audit_id: string | null = null) => {
        const { seal_no, first_at, last_at } = seal
        if (problems.length < MAX_PROBLEMS) problems.push({ seal_no, first_at, last_at, audit_id, problem })
      }
      if (isMissingBefore(seal, before, purgedBefore)) report('a seal before this one is missing')
      if (String(seal.seal_no) === headNo && seal.chain.toString('hex') === headMac) headSeen = true
      tally.seals++
      const key = everyKey(keys).find((candidate) => keyIdOf(candidate) === seal.key_id)
      const mac = previousMac(before, seal)
      if (!mac || (key && !sealMac(key, mac, seal).equals(seal.chain))) report('the seal was altered')
      if (key) await checkRows(db, key, seal, tally, purgedBefore, report)
      else {
        tally.other_key++
        if (!unknownKeys.has(seal.key_id))
          report(`cannot be verified: key ${seal.key_id} is not among SECRET_KEY and SECRET_KEYS_OLD`)
        unknownKeys.add(seal.key_id)
      }
      before = seal
    }
  }
  const { events, waiting, sealed } = await countEvents(db)
  if (!headSeen) {
    const nowhere = { seal_no: BigInt(headNo ?? 0), first_at: clock.now(), last_at: clock.now(), audit_id: null }
    problems.push({ ...nowhere, problem: 'the given head is not in the chain' })
  }
  const { missing, ...counts } = tally
  return {
    intact: problems.length === 0,
    unverifiable: unknownKeys.size > 0 && unknownKeys.size === problems.length,
    ...counts,
    unsealed: waiting,
    outside: Math.max(0, events - (sealed - missing - tally.purged) - waiting),
    problems,
    head: before ? `${before.seal_no}:${before.chain.toString('hex')}` : null,
  }
}

type ReportProblem = (problem: string, audit_id?: string) => void

/** The oldest seals go with their rows, once these are old enough. */
function isMissingBefore(seal: Seal, before: Seal | undefined, purgedBefore: Date | undefined): boolean {
  if (before) return seal.seal_no !== before.seal_no + 1n
  const mayBePurged = purgedBefore !== undefined && seal.before_at !== null && seal.before_at < purgedBefore
  return seal.seal_no !== 1n && !mayBePurged
}

/**
 * The MAC of the seal before, which a seal's own MAC covers; undefined where it is not that. The seal keeps a copy, so that the first one left after a purge
 * can be verified like any other; while the seal before exists, both have to be equal.
 */
function previousMac(before: Seal | undefined, { seal_no, before_chain: kept }: Seal): Buffer | undefined {
  const follows = before?.seal_no === seal_no - 1n
  const known = seal_no === 1n ? NOTHING_BEFORE : follows ? before?.chain : undefined
  return (known ? kept.equals(known) : kept.length === MAC_BYTES) ? kept : undefined
}

async function checkRows(
  db: Db,
  key: DerivedKeys,
  seal: Seal,
  tally: Tally,
  purgedBefore: Date | undefined,
  report: ReportProblem,
) {
  const events = await findEventsById(db, seal.routing_keys, seal.audit_ids)
  const digests = new Map(events.map((row) => [row.audit_id, rowDigest(key, row)]))
  for (const [at, id] of seal.audit_ids.entries()) {
    const sealed = seal.row_digests.subarray(at * ROW_DIGEST_BYTES, (at + 1) * ROW_DIGEST_BYTES)
    const digest = digests.get(id)
    if (digest?.equals(sealed)) tally.rows++
    else if (digest) report('the row was altered', id)
    else if (purgedBefore && seal.first_at < purgedBefore) tally.purged++
    else {
      tally.missing++
      report('the row is missing', id)
    }
  }
}
