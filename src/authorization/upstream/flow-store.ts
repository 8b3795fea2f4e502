import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

export const UPSTREAM_RETENTION: readonly Retention[] = [
  { table: 'upstream_flow', key: ['flow_hash'], column: 'expires_at', often: true, keptS: () => 60 },
]

export interface Flow {
  /** A path of ours, or for a sign-out the address of the client that asked. */
  readonly goOn: string
  /** Which app has asked, as the sign-in page is told. */
  readonly app: string
  /** Seconds; null where the person may have signed in at any time. */
  readonly maxAge: number | null
  readonly beganAt: Date
}

export type FlowPurpose = 'sign-in' | 'sign-out'

interface FlowKey {
  readonly flowHash: Buffer
  readonly browserHash: Buffer
  readonly purpose: FlowPurpose
}

export const insertFlow = (db: Db, flow: Flow & FlowKey & { readonly expiresAt: Date }): Promise<number> =>
  db.exec(
    sql`insert into upstream_flow (flow_hash, browser_hash, purpose, go_on, app, max_age, began_at, expires_at)
        values (${flow.flowHash}, ${flow.browserHash}, ${flow.purpose}, ${flow.goOn}, ${flow.app}, ${flow.maxAge},
                ${flow.beganAt}, ${flow.expiresAt})`,
  )

const flowRow = z.object({ goOn: z.string(), app: z.string(), maxAge: z.number().nullable(), beganAt: z.date() })

/** Found by one of any number of simultaneous callers. */
export const deleteFlow = (db: Db, { flowHash, browserHash, purpose }: FlowKey, now: Date): Promise<Flow | undefined> =>
  db.maybe(
    flowRow,
    sql`delete from upstream_flow
        where flow_hash = ${flowHash} and browser_hash = ${browserHash} and purpose = ${purpose} and expires_at > ${now}
        returning go_on as "goOn", app, max_age as "maxAge", began_at as "beganAt"`,
  )
