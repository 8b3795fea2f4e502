import { z } from 'zod'
import { MARGIN_S, type Retention } from '../db/retention.ts'
import type { SealedColumn } from '../db/sealed.ts'
import { type Db, sql } from '../db/sql.ts'

export const ALGS = ['RS256', 'ES256'] as const
export type Alg = (typeof ALGS)[number]

const signingKey = z.object({
  kid: z.string(),
  alg: z.enum(ALGS),
  public_jwk: z.record(z.string(), z.string()),
  created_at: z.date(),
  signs_from: z.date(),
  signs_until: z.date().nullable(),
  published_until: z.date().nullable(),
})
/** A key as operators see it. */
export type SigningKey = z.output<typeof signingKey>

const sealedKey = signingKey.extend({ sealed: z.instanceof(Buffer) })
export type SealedKey = z.output<typeof sealedKey>

export const SIGNING_KEY_RETENTION: readonly Retention[] = [
  { table: 'signing_key', key: ['kid'], column: 'published_until', keptS: () => MARGIN_S },
]

export const sealingContext = (kid: string): string => `signing_key ${kid}`

export const OIDC_SEALED: readonly SealedColumn[] = [
  { table: 'signing_key', column: 'sealed', key: ['kid'], contextOf: ([kid = '']) => sealingContext(kid) },
]

/** Changes of keys wait for one another; until the end of the transaction. */
export const lockSigningKeys = (db: Db): Promise<number> =>
  db.exec(sql`select pg_advisory_xact_lock(hashtext('gatehouse signing keys'))`)

/** Published ones, oldest first. */
export const findSigningKeys = (db: Db, now: Date): Promise<SealedKey[]> =>
  db.many(
    sealedKey,
    sql`select kid, alg, public_jwk, created_at, signs_from, signs_until, published_until, sealed from signing_key
        where published_until is null or published_until > ${now}
        order by signs_from, kid`,
  )

export const insertSigningKey = (db: Db, key: Omit<SealedKey, 'signs_until' | 'published_until'>): Promise<number> =>
  db.exec(
    sql`insert into signing_key (kid, alg, public_jwk, sealed, created_at, signs_from)
        values (${key.kid}, ${key.alg}, ${JSON.stringify(key.public_jwk)}::jsonb, ${key.sealed}, ${key.created_at}, ${key.signs_from})`,
  )

/** When these keys stop signing, and when they are published no longer; never later than it was. */
export const endSigningKeys = (db: Db, kids: readonly string[], until: Date, publishedUntil: Date): Promise<number> =>
  db.exec(
    sql`update signing_key
        set signs_until = least(signs_until, ${until}), published_until = least(published_until, ${publishedUntil})
        where kid = any (${kids}::text[])`,
  )
