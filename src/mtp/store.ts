import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

export interface NoticeRow {
  readonly noticeId: string
  readonly clientId: string
  readonly path: string
  readonly bodyHash: Buffer
  readonly partnerId: bigint
  readonly body: string
  readonly answer: string
}

/**
 * Claims a notice for this call; false when it was accepted before. While another call with the same notice is in
 * flight this waits for it: one commits, or, if it fails, this one takes its place. `forgetBefore` ends the memory.
 */
export const claimNotice = async (db: Db, row: NoticeRow, now: Date, forgetBefore: Date): Promise<boolean> => {
  const claimed = await db.exec(
    sql`insert into notice as known (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
        values (${row.clientId}, ${row.path}, ${row.bodyHash}, ${row.noticeId}, ${row.partnerId}, ${now}, ${row.body},
                ${row.answer})
        on conflict (client_id, path, body_hash) do update
          set notice_id = excluded.notice_id, received_at = excluded.received_at, answer = excluded.answer
          where known.received_at <= ${forgetBefore}`,
  )
  return claimed > 0
}

/** What the same notice was answered the first time. */
export const firstAnswer = async (db: Db, clientId: string, path: string, bodyHash: Buffer): Promise<string> => {
  const row = await db.one(
    z.object({ answer: z.string() }),
    sql`select answer from notice where client_id = ${clientId} and path = ${path} and body_hash = ${bodyHash}`,
  )
  return row.answer
}

/** The notice that is remembered for these bytes; undefined when none is. */
export const rememberedNotice = async (
  db: Db,
  { clientId, path, bodyHash }: Pick<NoticeRow, 'clientId' | 'path' | 'bodyHash'>,
): Promise<string | undefined> => {
  const row = await db.maybe(
    z.object({ notice_id: z.string() }),
    sql`select notice_id from notice where client_id = ${clientId} and path = ${path} and body_hash = ${bodyHash}`,
  )
  return row?.notice_id
}

export interface RejectedCall {
  readonly callId: string
  readonly partnerId: bigint
  readonly clientId: string
  readonly path: string
  readonly reason: string
  readonly headers: object
  readonly body: string
  readonly answer: string
}

export const insertRejectedCall = (db: Db, call: RejectedCall, now: Date): Promise<number> =>
  db.exec(
    sql`insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer)
        values (${call.callId}, ${now}, ${call.partnerId}, ${call.clientId}, ${call.path}, ${call.reason},
                ${call.headers}, ${call.body}, ${call.answer})`,
  )
