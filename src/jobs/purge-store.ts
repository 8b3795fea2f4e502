import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/**
 * The SQL of the purge, one statement a table: the oldest rows by an index on their date. Rows are found and locked
 * first and then deleted by their place (ctid), so a batch reads no page of the big primary keys. Rows that somebody
 * holds are passed over. `from` is where the batch before ended: without it each batch would walk over all that the
 * ones before have deleted, for as long as any old transaction keeps vacuum from clearing it away.
 */

interface Batch {
  /** Rows dated before this are over. */
  readonly before: Date
  readonly from: Date
  readonly limit: number
}

/** How many rows a batch has deleted, and the date of the last one. */
const deleted = z.object({ rows: z.number(), last: z.date().nullable() })

export type DeleteBatch = (db: Db, batch: Batch) => Promise<z.infer<typeof deleted>>

export const deleteAccessTokens: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from access_token where ctid = any (array(
            select ctid from access_token where expires_at >= ${from} and expires_at < ${before}
            order by expires_at limit ${limit} for update skip locked))
          returning expires_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteRefreshTokens: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from refresh_token where ctid = any (array(
            select ctid from refresh_token where expires_at >= ${from} and expires_at < ${before}
            order by expires_at limit ${limit} for update skip locked))
          returning expires_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteCodes: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from authorization_code where ctid = any (array(
            select ctid from authorization_code where expires_at >= ${from} and expires_at < ${before}
            order by expires_at limit ${limit} for update skip locked))
          returning expires_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteConsentDecisions: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from consent_decision where ctid = any (array(
            select ctid from consent_decision where expires_at >= ${from} and expires_at < ${before}
            order by expires_at limit ${limit} for update skip locked))
          returning expires_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteGrants: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from user_grant where ctid = any (array(
            select ctid from user_grant where created_at >= ${from} and created_at < ${before}
            order by created_at limit ${limit} for update skip locked))
          returning created_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteSessions: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from browser_session where ctid = any (array(
            select ctid from browser_session where expires_at >= ${from} and expires_at < ${before}
            order by expires_at limit ${limit} for update skip locked))
          returning expires_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deletePartnerSessions: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from sandbox_session where ctid = any (array(
            select ctid from sandbox_session where expires_at >= ${from} and expires_at < ${before}
            order by expires_at limit ${limit} for update skip locked))
          returning expires_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteNotices: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from notice where ctid = any (array(
            select ctid from notice where received_at >= ${from} and received_at < ${before}
            order by received_at limit ${limit} for update skip locked))
          returning received_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deleteRejectedCalls: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from rejected_call where ctid = any (array(
            select ctid from rejected_call where received_at >= ${from} and received_at < ${before}
            order by received_at limit ${limit} for update skip locked))
          returning received_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )

export const deletePartnerCalls: DeleteBatch = (db, { before, from, limit }) =>
  db.one(
    deleted,
    sql`with gone as (
          delete from partner_call where ctid = any (array(
            select ctid from partner_call where started_at >= ${from} and started_at < ${before}
            order by started_at limit ${limit} for update skip locked))
          returning started_at as at
        )
        select count(*)::int as rows, max(at) as last from gone`,
  )
