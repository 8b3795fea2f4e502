import type { Deps } from '../deps.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import type { Keys } from '../lib/crypto/keys.ts'
import { canonicalJson } from '../lib/json/canonical-json.ts'
import { hasUnsealed, insertSeal, lastSeal, lockChain, type Seal, takeUnsealed } from './seal-store.ts'
import { findEventsById } from './store.ts'
import type { EventRow } from './wire.ts'

/**
 * The tamper-evident chain of the audit log (DECISIONS "Tokens and secrets"). Writing an event takes no lock: it is
 * marked as unsealed, and the worker seals what has accumulated. A seal holds a digest of each row and a MAC over these
 * and the previous seal's MAC, under a key derived from SECRET_KEY.
 */

export const SEAL_EVERY_MS = 5_000
const ROWS_PER_SEAL = 500
export const ROW_DIGEST_BYTES = 16
/** Stands for a row that was deleted before it was sealed. */
const MISSING_DIGEST = Buffer.alloc(ROW_DIGEST_BYTES)

/** Identifies the SECRET_KEY of a seal without revealing it. */
export const keyIdOf = ({ audit }: Pick<Keys, 'audit'>): string => hmacSha256(audit, 'id').toString('hex', 0, 4)

/** Covers all columns, as read back from the database. */
export const rowDigest = ({ audit }: Pick<Keys, 'audit'>, row: EventRow): Buffer =>
  hmacSha256(audit, canonicalJson({ ...row, at: row.at.toISOString() })).subarray(0, ROW_DIGEST_BYTES)

export const MAC_BYTES = 32
/** Previous MAC of the very first seal. */
export const NO_MAC = Buffer.alloc(0)

type Covered = Omit<Seal, 'chain' | 'before_chain'>

/** `before` is the previous seal's MAC. key_id is left out: it follows from the key. */
export const sealMac = ({ audit }: Pick<Keys, 'audit'>, before: Buffer, seal: Covered): Buffer =>
  hmacSha256(
    audit,
    before,
    canonicalJson({
      seal_no: String(seal.seal_no),
      before_at: seal.before_at?.toISOString() ?? null,
      first_at: seal.first_at.toISOString(),
      last_at: seal.last_at.toISOString(),
      routing_keys: seal.routing_keys,
      audit_ids: seal.audit_ids,
      row_digests: seal.row_digests.toString('hex'),
    }),
  )

/** Seals all unsealed rows and returns how many; does nothing while another process is sealing. */
export async function sealAudit(deps: Pick<Deps, 'db' | 'keys' | 'clock'>): Promise<number> {
  if (!(await hasUnsealed(deps.db))) return 0
  for (let sealed = 0; ; ) {
    const rows = await sealBatch(deps)
    sealed += rows
    if (rows < ROWS_PER_SEAL) return sealed
  }
}

const sealBatch = ({ db, keys, clock }: Pick<Deps, 'db' | 'keys' | 'clock'>): Promise<number> =>
  db.tx(async (inside) => {
    if (!(await lockChain(inside))) return 0
    const taken = await takeUnsealed(inside, ROWS_PER_SEAL)
    if (taken.length === 0) return 0
    const keysOf = (rows: readonly { routing_key: number }[]) => rows.map(({ routing_key }) => routing_key)
    const idsOf = (rows: readonly { audit_id: string }[]) => rows.map(({ audit_id }) => audit_id)
    const events = await findEventsById(inside, keysOf(taken), idsOf(taken))
    events.sort((a, b) => a.at.getTime() - b.at.getTime() || (a.audit_id < b.audit_id ? -1 : 1))
    const found = new Set(idsOf(events))
    const missing = taken.filter(({ audit_id }) => !found.has(audit_id))
    const before = await lastSeal(inside)
    const seal: Covered = {
      seal_no: (before?.seal_no ?? 0n) + 1n,
      before_at: before?.last_at ?? null,
      first_at: events[0]?.at ?? clock.now(),
      last_at: events.at(-1)?.at ?? clock.now(),
      routing_keys: keysOf([...events, ...missing]),
      audit_ids: idsOf([...events, ...missing]),
      row_digests: Buffer.concat([...events.map((row) => rowDigest(keys, row)), ...missing.map(() => MISSING_DIGEST)]),
      key_id: keyIdOf(keys),
    }
    const before_chain = before?.chain ?? NO_MAC
    await insertSeal(inside, { ...seal, before_chain, chain: sealMac(keys, before_chain, seal) })
    return taken.length
  })
