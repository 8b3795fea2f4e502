import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { type DerivedKeys, fingerprintOf, hashSecret, type Keys } from '../../platform/lib/crypto/keys.ts'
import type { NewSecret } from './secret-store.ts'

/** What is kept of an app_secret. */
export const newSecret = (keys: DerivedKeys, secret: string, now: Date): NewSecret => ({
  hash: hashSecret(keys, secret),
  hashedWith: fingerprintOf(keys),
  now,
})

interface Rehashed {
  readonly appKey: string
  readonly hash: Buffer
  readonly rehashed: Buffer
  readonly hashedWith: Buffer
}

/** The first of several at once does it. */
export const rehashSecret = (db: Db, { appKey, hash, rehashed, hashedWith }: Rehashed): Promise<number> =>
  db.exec(
    sql`update micro_app_secret set secret_hash = ${rehashed}, hashed_with = ${hashedWith}
        where app_key = ${appKey} and secret_hash = ${hash}`,
  )

const unused = z.object({ total: z.number(), app_keys: z.array(z.string()) })

/** app_secrets that work and that SECRET_KEY has not hashed; of their apps `named` at most are named. */
export const secretsOfOldKeys = (
  db: Db,
  { newest }: Keys,
  now: Date,
  named: number,
): Promise<z.output<typeof unused>> =>
  db.one(
    unused,
    sql`with old as (
          select app_key from micro_app_secret
          where hashed_with <> ${fingerprintOf(newest)} and (ends_at is null or ends_at > ${now})
        )
        select (select count(*)::int from old) as total,
          array(select distinct app_key from old order by app_key limit ${named}) as app_keys`,
  )
