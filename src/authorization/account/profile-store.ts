import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { user } from './wire.ts'

const edited = user.pick({ name: true, gender: true, big_avatar_url: true })
export type EditedProfile = z.output<typeof edited>

export const updateProfile = (db: Db, key: UserRowKey, { name, gender, big_avatar_url }: EditedProfile, now: Date) =>
  db.of(key.routingKey).exec(
    sql`update user_profile set name = ${name}, gender = ${gender}, big_avatar_url = ${big_avatar_url},
                                updated_at = ${now} where ${ofPerson(key)}`,
  )

export const setPhone = (db: Db, key: UserRowKey, phone: string | null, now: Date): Promise<number> =>
  db
    .of(key.routingKey)
    .exec(sql`update user_profile set phone_number = ${phone}, updated_at = ${now} where ${ofPerson(key)}`)

/** For changes outside the profile row. */
export const setUpdated = (db: Db, key: UserRowKey, now: Date): Promise<number> =>
  db.of(key.routingKey).exec(sql`update user_profile set updated_at = ${now} where ${ofPerson(key)}`)

/** Deleted to be inserted again under another passport, possibly on another shard. */
export const deleteCredential = (db: Db, key: UserRowKey): Promise<number> =>
  db.exec(sql`delete from user_credential where ${ofPerson(key)}`)

const change = z.object({
  changeId: z.string(),
  value: z.string(),
  tries: z.number(),
  askedAt: z.date(),
  expiresAt: z.date(),
})
export type ContactChange = z.output<typeof change>
export type ContactKind = 'phone' | 'mail'

export const setChange = (db: Db, key: UserRowKey, kind: ContactKind, requested: Omit<ContactChange, 'tries'>) =>
  db.of(key.routingKey).exec(
    sql`insert into contact_change (routing_key, cid, user_id, kind, change_id, value, asked_at, expires_at)
        values (${key.routingKey}, ${key.cid}, ${key.userId}, ${kind}, ${requested.changeId},
                ${requested.value}, ${requested.askedAt}, ${requested.expiresAt})
        on conflict (routing_key, cid, user_id, kind) do update
        set change_id = excluded.change_id, value = excluded.value, tries = 0, asked_at = excluded.asked_at,
            expires_at = excluded.expires_at`,
  )

export const findChange = (db: Db, key: UserRowKey, kind: ContactKind): Promise<ContactChange | undefined> =>
  db.of(key.routingKey).maybe(
    change,
    sql`select change_id as "changeId", value, tries, asked_at as "askedAt", expires_at as "expiresAt"
        from contact_change where ${ofPerson(key)} and kind = ${kind}`,
  )

export const countTry = (db: Db, key: UserRowKey, kind: ContactKind): Promise<number> =>
  db.of(key.routingKey).exec(sql`update contact_change set tries = tries + 1 where ${ofPerson(key)} and kind = ${kind}`)

export const deleteChange = (db: Db, key: UserRowKey, kind: ContactKind): Promise<number> =>
  db.of(key.routingKey).exec(sql`delete from contact_change where ${ofPerson(key)} and kind = ${kind}`)

/** Replaces any earlier picture, and sets `url` in the profile. */
export async function setPicture(
  db: Db,
  key: UserRowKey,
  { id, bytes, url }: { readonly id: string; readonly bytes: Buffer; readonly url: string },
  now: Date,
) {
  const { routingKey, cid, userId } = key
  await db.of(routingKey).exec(
    sql`insert into profile_picture (routing_key, cid, user_id, picture_id, bytes, made_at)
        values (${routingKey}, ${cid}, ${userId}, ${id}, ${bytes}, ${now})
        on conflict (routing_key, cid, user_id) do update
        set picture_id = excluded.picture_id, bytes = excluded.bytes, made_at = excluded.made_at`,
  )
  await db
    .of(key.routingKey)
    .exec(sql`update user_profile set big_avatar_url = ${url}, updated_at = ${now} where ${ofPerson(key)}`)
}

export const deletePicture = (db: Db, person: UserRowKey): Promise<number> =>
  db.of(person.routingKey).exec(sql`delete from profile_picture where ${ofPerson(person)}`)

export const findPicture = (db: Db, routingKey: number, id: string): Promise<Buffer | undefined> =>
  db
    .of(routingKey)
    .maybeValue(
      z.instanceof(Buffer),
      sql`select bytes from profile_picture where routing_key = ${routingKey} and picture_id = ${id}`,
    )
