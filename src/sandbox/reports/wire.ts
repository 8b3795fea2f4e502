import { z } from 'zod'
import { listOf } from '../../platform/lib/json/shape.ts'

const when = z.iso.datetime()
const count = z.int().min(0)
const orderIds = listOf('orders', z.string().regex(/^\d{1,19}$/))

/** What is signed. Ids are text, because they may exceed 2^53; times are ISO 8601 in UTC. */
export const reportContent = z.strictObject({
  /** Distinguishes reports from anything else that the key may ever sign. */
  format: z.literal('gatehouse-sandbox-report-1'),
  /** PUBLIC_URL at that time. */
  issuer: z.string(),
  report_id: z.string(),
  partner_id: z.string(),
  partner_name: z.string(),
  run_number: count,
  /** The system functions that were chosen. */
  functions: listOf('functions', z.string()),
  /** In the order of the run; `attempts` up to the one that has passed. */
  steps: listOf('functions', z.strictObject({ id: z.string(), passed_at: when, attempts: count })),
  /** The other steps: they may be left out, and what they need first was not there. Missing where there are none. */
  not_tested: listOf('functions', z.string()).exactOptional(),
  /** Orders that the platform's own records show as consumed and as refunded. */
  evidence: z.strictObject({ consumption: orderIds, refund: orderIds }),
  passed_at: when,
  service_version: z.string(),
})
export type ReportContent = z.output<typeof reportContent>

/** What the report says about the run; the rest is added when it is signed. */
export type ReportFacts = Omit<ReportContent, 'format' | 'issuer' | 'report_id' | 'service_version'>

export const verifyForm = z.object({
  content: z.string().trim().min(1).catch(''),
  signature: z.string().trim().catch(''),
})
