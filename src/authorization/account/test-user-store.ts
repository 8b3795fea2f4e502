import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { ofAllShards } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { credentialsOf, keysOf } from './list-store.ts'

const testUser = z.object({
  cid: z.number(),
  user_id: z.string(),
  passport: z.string(),
  name: z.string(),
  phone_number: z.string().nullable(),
})
export type TestUser = z.output<typeof testUser>

export const setTestOf = (db: Db, person: UserRowKey, appKey: string): Promise<number> =>
  db.of(person.routingKey).exec(sql`update user_profile set test_of = ${appKey} where ${ofPerson(person)}`)

const profile = testUser.omit({ passport: true }).extend({ routing_key: z.number() })

const profilesOf = (db: Db, appKey: string): Promise<z.output<typeof profile>[]> =>
  ofAllShards(db, (shard) =>
    shard.listWithCustomPlan(
      profile,
      sql`select routing_key, cid, user_id, name, phone_number from user_profile where test_of = ${appKey} order by user_id`,
    ),
  )

/** Two statements: credentials may lie on another shard. */
export async function listTestUsers(db: Db, appKey: string): Promise<TestUser[]> {
  const profiles = await profilesOf(db, appKey)
  const credentials = await credentialsOf(db, profiles)
  return profiles
    .flatMap(({ routing_key: _, ...person }) => {
      const own = credentials.find(({ cid, user_id }) => cid === person.cid && user_id === person.user_id)
      return own ? [{ ...person, passport: own.passport }] : []
    })
    .sort((one, other) => (one.user_id < other.user_id ? -1 : 1))
}

export const setPasswords = async (db: Db, appKey: string, passwordHash: string): Promise<number> =>
  db.exec(
    sql`update user_credential c set password_hash = ${passwordHash} from ${keysOf(await profilesOf(db, appKey))}
        where c.routing_key = k.routing_key and c.cid = k.cid and c.user_id = k.user_id`,
  )
