import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { ofAllShards } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { credentialsOf, keyRow, keysOf, withPassports } from './bulk-store.ts'

const profile = keyRow.extend({ name: z.string(), phone_number: z.string().nullable() })
type Profile = z.output<typeof profile>
export type TestUser = Omit<Profile, 'routing_key'> & { readonly passport: string }

export const setTestOf = (db: Db, person: UserRowKey, appKey: string): Promise<number> =>
  db.of(person.routingKey).exec(sql`update user_profile set test_of = ${appKey} where ${ofPerson(person)}`)

const profilesOf = (db: Db, appKey: string): Promise<Profile[]> =>
  ofAllShards(db, (shard) =>
    shard.listWithCustomPlan(
      profile,
      sql`select routing_key, cid, user_id, name, phone_number from user_profile where test_of = ${appKey} order by user_id`,
    ),
  )

export async function listTestUsers(db: Db, appKey: string): Promise<TestUser[]> {
  const profiles = await profilesOf(db, appKey)
  const users = withPassports(profiles, await credentialsOf(db, profiles))
  return users.sort((a, b) => (a.user_id < b.user_id ? -1 : 1))
}

export const setPasswords = async (db: Db, appKey: string, passwordHash: string): Promise<number> =>
  db.exec(
    sql`update user_credential c set password_hash = ${passwordHash} from ${keysOf(await profilesOf(db, appKey))}
        where c.routing_key = k.routing_key and c.cid = k.cid and c.user_id = k.user_id`,
  )
