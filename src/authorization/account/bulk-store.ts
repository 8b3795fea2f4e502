import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { SHOWN_PASSPORT } from './store.ts'

/**
 * Bulk reads, for lists, imports, test users and the demo. Profiles and credentials take two statements, since
 * credentials are stored by passport, possibly on another shard.
 */

export const keyRow = z.object({ routing_key: z.number(), cid: z.number(), user_id: z.string() })
export type KeyRow = z.output<typeof keyRow>

/** `passport` is the form for display. */
export const credentialRow = keyRow.extend({ passport: z.string() })
export type CredentialRow = z.output<typeof credentialRow>

export const textOfKey = ({ routing_key, cid, user_id }: KeyRow): string => `${routing_key} ${cid} ${user_id}`

/** The keys as a table `k` for use in a statement. */
export const keysOf = (rows: readonly KeyRow[]) =>
  sql.part`unnest(${rows.map((row) => row.routing_key)}::int[], ${rows.map((row) => row.cid)}::int[],
             ${rows.map((row) => row.user_id)}::text[]) as k (routing_key, cid, user_id)`

export const credentialsOf = (db: Db, rows: readonly KeyRow[]): Promise<CredentialRow[]> =>
  db.listWithCustomPlan(
    credentialRow,
    sql`select c.routing_key, c.cid, c.user_id, ${SHOWN_PASSPORT} as passport from ${keysOf(rows)}
        join user_credential c using (routing_key, cid, user_id)`,
  )

/** Joins profiles with their passports. A profile whose credential is still being written is left out. */
export function withPassports<Profile extends KeyRow>(
  profiles: readonly Profile[],
  credentials: readonly CredentialRow[],
): (Omit<Profile, 'routing_key'> & { passport: string })[] {
  const passports = new Map(credentials.map((credential) => [textOfKey(credential), credential.passport]))
  return profiles.flatMap((profile) => {
    const passport = passports.get(textOfKey(profile))
    const { routing_key: _, ...shown } = profile
    return passport === undefined ? [] : [{ ...shown, passport }]
  })
}
