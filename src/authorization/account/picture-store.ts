import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

interface NewPicture {
  readonly id: string
  readonly bytes: Buffer
  readonly url: string
}

/** In place of one of before; `url` becomes a part of the profile. */
export async function setPicture(db: Db, key: UserRowKey, { id, bytes, url }: NewPicture, now: Date): Promise<void> {
  const { routingKey, cid, userId } = key
  await db.of(key.routingKey).exec(
    sql`insert into profile_picture (routing_key, cid, user_id, picture_id, bytes, made_at)
        values (${routingKey}, ${cid}, ${userId}, ${id}, ${bytes}, ${now})
        on conflict (routing_key, cid, user_id) do update
        set picture_id = excluded.picture_id, bytes = excluded.bytes, made_at = excluded.made_at`,
  )
  await db.of(key.routingKey).exec(
    sql`update user_profile set big_avatar_url = ${url}, updated_at = ${now}
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}`,
  )
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
