import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { ofAllShards } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { UpstreamPerson } from '../upstream/index.ts'

/** What the provider says replaces what was kept; what it does not say stays. */
export const updateProfile = (db: Db, key: UserRowKey, said: UpstreamPerson['profile'], now: Date): Promise<number> =>
  db.of(key.routingKey).exec(
    sql`update user_profile u
        set name = coalesce(said.name, u.name), gender = coalesce(said.gender, u.gender),
            big_avatar_url = coalesce(said.avatar, u.big_avatar_url),
            phone_number = coalesce(said.phone, u.phone_number), updated_at = ${now}
        from (values (${said.name ?? null}::text, ${said.gender ?? null}::text, ${said.big_avatar_url ?? null}::text,
                      ${said.phone_number ?? null}::text)) as said (name, gender, avatar, phone)
        where ${ofPerson(key, 'u')}
          and (u.name, u.gender, u.big_avatar_url, coalesce(u.phone_number, ''))
              is distinct from (coalesce(said.name, u.name), coalesce(said.gender, u.gender),
                coalesce(said.avatar, u.big_avatar_url), coalesce(said.phone, u.phone_number, ''))`,
  )

const ended = z.object({ routingKey: z.number(), cid: z.number(), userId: z.string() })

/**
 * Ends those that began with one session of the provider (`sid`), or with any of a person (`sub`); both: with that session of
 * that person.
 */
export const deleteUpstreamSessions = (
  db: Db,
  { sub, sid }: { readonly sub: Buffer | undefined; readonly sid: Buffer | undefined },
): Promise<z.output<typeof ended>[]> => {
  const ofPerson = sub && sql.part`upstream_sub = ${sub}`
  const ofSession = sid && sql.part`upstream_sid = ${sid}`
  const which = ofPerson && ofSession ? sql.part`${ofPerson} and ${ofSession}` : (ofPerson ?? ofSession)
  return ofAllShards(db, (shard) =>
    shard.many(
      ended,
      sql`delete from browser_session where ${which ?? sql.part`false`}
          returning routing_key as "routingKey", cid, user_id as "userId"`,
    ),
  )
}
