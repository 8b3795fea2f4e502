import { enqueue } from '../db/jobs-store.ts'
import type { Db } from '../db/sql.ts'

/** The jobs that ticketing leaves behind, each with the key that keeps it single. src/jobs reads these payloads. */

export type Pull = 'pull-product' | 'pull-prices'

export const queuePull = (db: Db, task: Pull, partnerId: bigint, partnerDealId: string): Promise<number> =>
  enqueue(db, task, { partnerId: String(partnerId), partnerDealId }, { key: `${task}:${partnerId}:${partnerDealId}` })
