import type { Deps } from '../deps.ts'
import { type DerivedKeys, everyKey } from '../lib/crypto/keys.ts'
import { operation } from '../lib/json/input.ts'
import { localized } from '../lib/localized-text.ts'
import { RescodeError } from '../lib/web/rescode.ts'
import { keyIdOf, MAC_BYTES, NO_MAC, ROW_DIGEST_BYTES, rowDigest, sealMac } from './seal.ts'
import { type Seal, sealsAfter } from './seal-store.ts'
import { countEvents, findEventsById, keptSince } from './store.ts'
import { type EventRow, type Verification, verification } from './wire.ts'

interface AuditProblem {
  readonly seal_no: bigint
  /** The period that the seal covers. */
  readonly first_at: Date
  readonly last_at: Date
  /** The bad row; null if the seal itself is bad. */
  readonly audit_id: string | null
  readonly problem: string
}

export interface Verified {
  /** Every seal and row was verified; none is missing, altered or inserted by hand. */
  readonly intact: boolean
  /** Nothing is known to be missing or altered, but some seals could not be verified. */
  readonly unverifiable: boolean
  /** Rows unchanged since they were sealed. */
  readonly rows: number
  readonly seals: number
  /** Rows of the last few seconds, not sealed yet. */
  readonly unsealed: number
  /** Rows in no seal: inserted by hand. */
  readonly outside: number
  /** Older rows were not counted, since seals that named them were purged; null if all were. */
  readonly unproved_before: Date | null
  /** Missing rows that are old enough to have been purged. */
  readonly purged: number
  /** Seals made with an unknown SECRET_KEY, whose rows cannot be verified; `problems` names each such key. */
  readonly other_key: number
  /** The first MAX_PROBLEMS. */
  readonly problems: readonly AuditProblem[]
  /** End of the chain, `seal:MAC`. Kept elsewhere, it later proves that nothing was cut off. Null without seals. */
  readonly head: string | null
}

const SEALS_PER_READ = 100
const MAX_PROBLEMS = 100

type Tally = Record<'rows' | 'seals' | 'purged' | 'other_key', number>

/** Of a verification over HTTP, and of its last statement; the command on the service's own machine has no other. */
const TIME_LIMIT_S = 120

export const verifyAudit = operation(verification, verify)

/** `verifyAudit` over HTTP: one at a time (20003, 429), with a time limit (20013, 503). */
export const verifyAuditInTime = (deps: Deps, given: Verification): Promise<Verified> =>
  deps.longReads.run(() => verifyAudit(deps, given, deps.clock.elapsedMs() + TIME_LIMIT_S * 1000))

const tookTooLong = (): RescodeError => {
  const message = localized('verification-too-long')
  return new RescodeError(20013, { status: 503, message, detail: 'the verification took too long' })
}

const laterOf = (a: Date | undefined, b: Date | undefined): Date | undefined => (a && b ? (a > b ? a : b) : (a ?? b))

async function verify(deps: Deps, { head, purged_before }: Verification, until?: number): Promise<Verified> {
  const { db, keys, clock, config } = deps
  const purgedBefore = laterOf(keptSince(clock.now(), config.AUDIT_DAYS), purged_before)
  const tally: Tally = { rows: 0, seals: 0, purged: 0, other_key: 0 }
  /** Counted from here on, as the purge may have deleted seals of older rows: not if the very first is still there. */
  let countedSince = purgedBefore
  /** Rows that the seals name, of those that are counted. */
  let named = 0
  const problems: AuditProblem[] = []
  const unknownKeys = new Set<string>()
  const [headNo, headMac] = head?.split(':') ?? []
  let before: Seal | undefined
  let headSeen = head === undefined
  for (;;) {
    const seals = await sealsAfter(db, before?.seal_no ?? 0n, SEALS_PER_READ)
    if (seals.length === 0) break
    for (const seal of seals) {
      if (until !== undefined && clock.elapsedMs() >= until) throw tookTooLong()
      const report = (problem: string, audit_id: string | null = null) => {
        const { seal_no, first_at, last_at } = seal
        if (problems.length < MAX_PROBLEMS) problems.push({ seal_no, first_at, last_at, audit_id, problem })
      }
      if (isMissingBefore(seal, before, purgedBefore)) report('a seal before this one is missing')
      if (String(seal.seal_no) === headNo && seal.chain.toString('hex') === headMac) headSeen = true
      if (seal.seal_no === 1n) countedSince = undefined
      tally.seals++
      const key = everyKey(keys).find((candidate) => keyIdOf(candidate) === seal.key_id)
      const mac = previousMac(before, seal)
      if (!mac || (key && !sealMac(key, mac, seal).equals(seal.chain))) report('the seal was altered')
      const events = await findEventsById(db, seal.routing_keys, seal.audit_ids)
      named += events.filter(({ at }) => !countedSince || at >= countedSince).length
      if (key) checkRows(key, seal, events, tally, purgedBefore, report)
      else {
        tally.other_key++
        if (!unknownKeys.has(seal.key_id))
          report(`cannot be verified: key ${seal.key_id} is not among SECRET_KEY and SECRET_KEYS_OLD`)
        unknownKeys.add(seal.key_id)
      }
      before = seal
    }
  }
  const counted = await db.slowTx(TIME_LIMIT_S, (inside) => countEvents(inside, countedSince, before?.seal_no ?? 0n))
  const outside = Math.max(0, counted.events - named - counted.sealed - counted.waiting)
  const reportOfLog = (seal_no: bigint, problem: string) =>
    problems.push({ seal_no, first_at: clock.now(), last_at: clock.now(), audit_id: null, problem })
  if (!headSeen) reportOfLog(BigInt(headNo ?? 0), 'the given head is not in the chain')
  if (outside > 0) reportOfLog(before?.seal_no ?? 0n, `${outside} rows are in no seal: they were inserted by hand`)
  return {
    intact: problems.length === 0,
    unverifiable: unknownKeys.size > 0 && unknownKeys.size === problems.length,
    ...tally,
    unsealed: counted.waiting,
    outside,
    unproved_before: countedSince ?? null,
    problems,
    head: before ? `${before.seal_no}:${before.chain.toString('hex')}` : null,
  }
}

type ReportProblem = (problem: string, audit_id?: string) => void

/** The oldest seals may have been purged with their rows. */
function isMissingBefore(seal: Seal, before: Seal | undefined, purgedBefore: Date | undefined): boolean {
  if (before) return seal.seal_no !== before.seal_no + 1n
  const mayBePurged = purgedBefore !== undefined && seal.before_at !== null && seal.before_at < purgedBefore
  return seal.seal_no !== 1n && !mayBePurged
}

/**
 * The previous seal's MAC; undefined if this seal's copy of it is wrong. The copy makes the first seal left after a
 * purge verifiable like any other.
 */
function previousMac(before: Seal | undefined, { seal_no, before_chain: copy }: Seal): Buffer | undefined {
  const follows = before?.seal_no === seal_no - 1n
  const expected = seal_no === 1n ? NO_MAC : follows ? before?.chain : undefined
  return (expected ? copy.equals(expected) : copy.length === MAC_BYTES) ? copy : undefined
}

function checkRows(
  key: DerivedKeys,
  seal: Seal,
  events: readonly EventRow[],
  tally: Tally,
  purgedBefore: Date | undefined,
  report: ReportProblem,
) {
  const digests = new Map(events.map((row) => [row.audit_id, rowDigest(key, row)]))
  for (const [at, id] of seal.audit_ids.entries()) {
    const sealed = seal.row_digests.subarray(at * ROW_DIGEST_BYTES, (at + 1) * ROW_DIGEST_BYTES)
    const digest = digests.get(id)
    if (digest?.equals(sealed)) tally.rows++
    else if (digest) report('the row was altered', id)
    else if (purgedBefore && seal.first_at < purgedBefore) tally.purged++
    else report('the row is missing', id)
  }
}
