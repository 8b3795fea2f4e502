import { z } from 'zod'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'

const report = z.object({
  run_id: z.string(),
  report_id: z.string(),
  /** Canonical JSON: the exact bytes that were signed. */
  content: z.string(),
  /** Ed25519, base64url. */
  signature: z.string(),
  key_id: z.string(),
  created_at: z.date(),
})
export type StoredReport = z.output<typeof report>

/** Does nothing if the run already has a report. */
export const insertReport = (db: Db, given: StoredReport): Promise<number> =>
  db.exec(
    sql`insert into sandbox_report (run_id, report_id, content, signature, key_id, created_at)
        values (${given.run_id}, ${given.report_id}, ${given.content}, ${given.signature}, ${given.key_id},
          ${given.created_at})
        on conflict (run_id) do nothing`,
  )

const findWhere = (db: Db, condition: Fragment): Promise<StoredReport | undefined> =>
  db.maybe(
    report,
    sql`select run_id, report_id, content, signature, key_id, created_at from sandbox_report where ${condition}`,
  )

export const findReport = (db: Db, reportId: string) => findWhere(db, sql.part`report_id = ${reportId}`)

export const findReportOfRun = (db: Db, runId: string) => findWhere(db, sql.part`run_id = ${runId}`)

const publicKey = z.object({ kid: z.string(), x: z.string() })
/** Two fields of a JWK (report.ts). */
export type PublicKey = z.output<typeof publicKey>

/** Each replacement of SECRET_KEY adds one; no more than these are tried. */
const MAX_FORMER_KEYS = 20

/** Public keys that signed reports before SECRET_KEY was replaced, latest first. */
export const findFormerKeys = (db: Db): Promise<PublicKey[]> =>
  db.many(publicKey, sql`select kid, x from former_report_key order by ended_at desc, kid limit ${MAX_FORMER_KEYS}`)

export const insertFormerKey = (db: Db, { kid, x }: PublicKey, now: Date): Promise<number> =>
  db.exec(
    sql`insert into former_report_key (kid, x, ended_at) values (${kid}, ${x}, ${now}) on conflict (kid) do nothing`,
  )
