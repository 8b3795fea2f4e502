import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { oidcFailure } from './failures.ts'
import {
  ALGS,
  type Alg,
  deleteSigningKey,
  endSigningKeys,
  findSigningKeys,
  insertSigningKey,
  lockSigningKeys,
  type SealedKey,
  type SigningKey,
  sealingContext,
} from './store.ts'
import { ID_TOKEN_LIFETIME_S } from './wire.ts'

/** How often processes read the keys, seconds: one may sign with an ended key for that much longer. */
export const KEYS_READ_EVERY_S = 10
/** For differing clocks, and clients with a tolerance for them. */
const CLOCK_MARGIN_S = 300

export const rotationInput = z.strictObject({ alg: z.enum(ALGS).optional() })
export const retirementInput = z.strictObject({ kid: z.string().min(1).max(100), at_once: z.boolean().default(false) })

const withoutPrivateKey = ({ sealed: _, ...key }: SealedKey): SigningKey => key

export const signsAt = ({ signs_from, signs_until }: SigningKey, now: Date): boolean =>
  signs_from <= now && (signs_until === null || signs_until > now)

/** Keys that are published, and those that only verify hints, for as long as a session that began with them can last. */
export const findVerifyingKeys = ({ db, clock, config }: Deps): Promise<SealedKey[]> =>
  findSigningKeys(db, addSeconds(clock.now(), -config.SESSION_LIFETIME_S))

export const listSigningKeys = async (deps: Deps): Promise<SigningKey[]> =>
  (await findVerifyingKeys(deps)).map(withoutPrivateKey)

/** Creates a key that signs now if there is none. Safe with several processes. */
export async function ensureSigningKey(deps: Deps, alg: Alg): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    await lockSigningKeys(db)
    const now = deps.clock.now()
    const known = await findSigningKeys(db, now)
    if (known.some((key) => key.alg === alg && signsAt(key, now))) return
    await addKey(inside, alg, now)
  })
}

/** A new key for each algorithm, or for one, is published at once, and takes over after SIGNING_KEY_LEAD_S. */
export async function rotateSigningKeys(deps: Deps, { alg }: z.output<typeof rotationInput>): Promise<SigningKey[]> {
  await inTransaction(deps, async (inside, db) => {
    await lockSigningKeys(db)
    const now = deps.clock.now()
    const from = addSeconds(now, deps.config.SIGNING_KEY_LEAD_S)
    const known = await findSigningKeys(db, now)
    for (const rotated of alg ? [alg] : ALGS) {
      const keys = known.filter((key) => key.alg === rotated)
      // Without a key that signs now, the new one has nothing to wait for.
      await addKey(inside, rotated, keys.some((key) => signsAt(key, now)) ? from : now)
      const current = keys.filter(({ signs_until }) => signs_until === null || signs_until > from)
      await endKeys(db, current, from)
    }
  })
  return listSigningKeys(deps)
}

/**
 * Stops a key from signing. It stays published until its last id_token has expired, and verifies hints after that; a leaked
 * key (`at_once`) does neither.
 */
export async function retireSigningKey(
  deps: Deps,
  { kid, at_once }: z.output<typeof retirementInput>,
): Promise<SigningKey[]> {
  await inTransaction(deps, async (inside, db) => {
    await lockSigningKeys(db)
    const now = deps.clock.now()
    const known = await findVerifyingKeys(inside)
    const key = known.find((candidate) => candidate.kid === kid)
    if (!key) throw oidcFailure('signing_key_unknown')
    if (at_once) await deleteSigningKey(db, kid)
    else await endKeys(db, [key], now)
    await recordAudit(inside, { event: 'signing_key_retired', target: `signing-key:${kid}`, detail: { at_once } })
    const others = known.filter((other) => other.kid !== kid && other.alg === key.alg)
    if (!others.some((other) => signsAt(other, now))) await addKey(inside, key.alg, now)
  })
  return listSigningKeys(deps)
}

const endKeys = (db: Db, keys: readonly SigningKey[], at: Date): Promise<number> =>
  endSigningKeys(
    db,
    keys.map(({ kid }) => kid),
    at,
    addSeconds(at, ID_TOKEN_LIFETIME_S + KEYS_READ_EVERY_S + CLOCK_MARGIN_S),
  )

async function addKey(deps: Deps, alg: Alg, signsFrom: Date): Promise<void> {
  const { db, keys, clock } = deps
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const publicJwk = z.record(z.string(), z.string()).parse(await exportJWK(publicKey))
  const kid = (await calculateJwkThumbprint(publicJwk)).slice(0, 16)
  const sealed = encryptSecret(keys, JSON.stringify(await exportJWK(privateKey)), sealingContext(kid))
  const now = clock.now()
  await insertSigningKey(db, { kid, alg, public_jwk: publicJwk, sealed, created_at: now, signs_from: signsFrom })
  await recordAudit(deps, {
    event: 'signing_key_made',
    target: `signing-key:${kid}`,
    detail: { alg, signs_from: signsFrom },
  })
}
