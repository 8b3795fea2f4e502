import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { storableJson } from '../../platform/lib/storable.ts'

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

export const OIDC_RETENTION: readonly Retention[] = [
  {
    table: 'signing_key',
    key: ['kid'],
    column: 'published_until',
    keptS: ({ SESSION_LIFETIME_S }) => SESSION_LIFETIME_S + MARGIN_S,
  },
  { table: 'pushed_request', key: ['request_hash'], column: 'expires_at', often: true, keptS: () => 60 },
  { table: 'client_assertion', key: ['assertion_hash'], column: 'expires_at', keptS: () => MARGIN_S },
]

export const sealingContext = (kid: string): string => `signing_key ${kid}`

export const OIDC_SEALED: readonly SealedColumn[] = [
  { table: 'signing_key', column: 'sealed', key: ['kid'], contextOf: ([kid = '']) => sealingContext(kid) },
]

/** Serializes changes to the keys until the end of the transaction. */
export const lockSigningKeys = (db: Db): Promise<number> =>
  db.exec(sql`select pg_advisory_xact_lock(hashtext('gatehouse signing keys'))`)

const keysSince: Batched<Date, SealedKey> = {
  row: sealedKey,
  key: () => '',
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, kid, alg, public_jwk, created_at, signs_from, signs_until, published_until, sealed
        from unnest(${asked}::timestamptz[]) with ordinality as asked (since, ordinal)
        join signing_key on published_until is null or published_until > asked.since
        order by signs_from, kid`,
}

/** Keys that are published now or were at `since`, oldest first. */
export const findSigningKeys = (db: Db, since: Date): Promise<SealedKey[]> => db.batch(keysSince, since)

export const deleteSigningKey = (db: Db, kid: string): Promise<number> =>
  db.exec(sql`delete from signing_key where kid = ${kid}`)

export const insertSigningKey = (db: Db, key: Omit<SealedKey, 'signs_until' | 'published_until'>): Promise<number> =>
  db.exec(
    sql`insert into signing_key (kid, alg, public_jwk, sealed, created_at, signs_from)
        values (${key.kid}, ${key.alg}, ${storableJson(key.public_jwk)}::jsonb, ${key.sealed}, ${key.created_at}, ${key.signs_from})`,
  )

/** Sets when these keys stop signing and being published, but never later than before. */
export const endSigningKeys = (db: Db, kids: readonly string[], until: Date, publishedUntil: Date): Promise<number> =>
  db.exec(
    sql`update signing_key
        set signs_until = least(signs_until, ${until}), published_until = least(published_until, ${publishedUntil})
        where kid = any (${kids}::text[])`,
  )

export interface PushedRequest {
  readonly hash: Buffer
  readonly appKey: string
  readonly parameters: string
  readonly expiresAt: Date
}

export const insertPushedRequest = (db: Db, { hash, appKey, parameters, expiresAt }: PushedRequest): Promise<number> =>
  db.exec(
    sql`insert into pushed_request (request_hash, app_key, parameters, expires_at)
        values (${hash}, ${appKey}, ${parameters}, ${expiresAt})`,
  )

/** The parameters, for the browser that opens the request first, as often as it likes; undefined for any other. */
export const openPushedRequest = (
  db: Db,
  { hash, appKey, openedBy }: Pick<PushedRequest, 'hash' | 'appKey'> & { readonly openedBy: Buffer },
  now: Date,
): Promise<string | undefined> =>
  db.maybeValue(
    z.string(),
    sql`update pushed_request set opened_by = ${openedBy}
        where request_hash = ${hash} and app_key = ${appKey} and expires_at > ${now}
          and (opened_by is null or opened_by = ${openedBy})
        returning parameters`,
  )

export const deletePushedRequest = (db: Db, hash: Buffer): Promise<number> =>
  db.exec(sql`delete from pushed_request where request_hash = ${hash}`)

/** True for the first use. */
export const recordAssertion = async (db: Db, hash: Buffer, expiresAt: Date): Promise<boolean> =>
  (await db.exec(
    sql`insert into client_assertion (assertion_hash, expires_at) values (${hash}, ${expiresAt})
        on conflict (assertion_hash) do nothing`,
  )) === 1
