import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const formerKey = z.object({ kid: z.string(), x: z.string() })
type FormerKey = z.output<typeof formerKey>

/** Each replacement of SECRET_KEY leaves one; more are not tried. */
const MOST = 20

/** Public keys that have signed reports before SECRET_KEY was replaced, the latest first. */
export const findFormerKeys = (db: Db): Promise<FormerKey[]> =>
  db.many(formerKey, sql`select kid, x from former_report_key order by ended_at desc, kid limit ${MOST}`)

export const insertFormerKey = (db: Db, { kid, x }: FormerKey, now: Date): Promise<number> =>
  db.exec(
    sql`insert into former_report_key (kid, x, ended_at) values (${kid}, ${x}, ${now}) on conflict (kid) do nothing`,
  )
