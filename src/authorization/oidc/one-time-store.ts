import { z } from 'zod'
import { MARGIN_S, type Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

export const USED_ONCE_RETENTION: readonly Retention[] = [
  { table: 'pushed_request', key: ['request_hash'], column: 'expires_at', often: true, keptS: () => 60 },
  { table: 'client_assertion', key: ['assertion_hash'], column: 'expires_at', keptS: () => MARGIN_S },
]

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
