import { randomBytes, sign, verify } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { parseLossless } from '../lib/json/lossless.ts'
import { VERSION } from '../lib/version.ts'
import { canonicalJson, reportKey } from './report-key.ts'
import * as store from './report-store.ts'
import { type ReportContent, type ReportFacts, reportContent } from './report-wire.ts'

/** Characters; a report has some ten thousand at most. */
const LONGEST_REPORT = 65_536

const ID = /^[\w-]{22}$/

interface SignedReport {
  /** Canonical JSON: these bytes, as UTF-8, are what is signed. */
  readonly content: string
  /** Ed25519, base64url. */
  readonly signature: string
  /** Which key: `kid` at /sandbox/report-key. */
  readonly keyId: string
}

function signReport({ keys }: Pick<Deps, 'keys'>, report: ReportContent): SignedReport {
  const content = canonicalJson(reportContent.parse(report))
  const { privateKey, jwk } = reportKey(keys)
  return { content, signature: sign(null, Buffer.from(content), privateKey).toString('base64url'), keyId: jwk.kid }
}

/** Whether exactly this text was signed by us. */
export function verifyReport({ keys }: Pick<Deps, 'keys'>, content: string, signature: string): boolean {
  const bytes = /^[\w-]{86}$/.test(signature) ? Buffer.from(signature, 'base64url') : Buffer.alloc(0)
  return bytes.length === 64 && verify(null, Buffer.from(content), reportKey(keys).publicKey, bytes)
}

/** What a report turns out to be: `unreadable` is no report at all, `forged` was not signed by us in this form. */
export type Verdict =
  | { readonly verdict: 'genuine'; readonly report: ReportContent }
  | { readonly verdict: 'forged' | 'unreadable' }

/**
 * Verifies a report whatever its layout: white space and the order of names do not matter. A name that appears twice in
 * one object is refused, because nobody could know which of the two values was signed.
 */
export function examineReport(deps: Pick<Deps, 'keys'>, text: string, signature: string): Verdict {
  if (text.length > LONGEST_REPORT) return { verdict: 'unreadable' }
  const parsed = parseLossless(Buffer.from(text))
  const read = reportContent.safeParse('value' in parsed ? parsed.value : undefined)
  if (!read.success) return { verdict: 'unreadable' }
  if (!verifyReport(deps, canonicalJson(read.data), signature)) return { verdict: 'forged' }
  return { verdict: 'genuine', report: read.data }
}

/** Signs and stores the report of a run, in the caller's transaction. A run keeps its first report. */
export async function storeReport(deps: Deps, runId: string, facts: ReportFacts): Promise<store.StoredReport> {
  const report_id = randomBytes(16).toString('base64url')
  const { content, signature, keyId } = signReport(deps, {
    ...facts,
    format: 'gatehouse-sandbox-report-1',
    issuer: deps.config.PUBLIC_URL,
    report_id,
    service_version: VERSION,
  })
  const created_at = deps.clock.now()
  await store.insertReport(deps.db, { run_id: runId, report_id, content, signature, key_id: keyId, created_at })
  const kept = await store.findReportOfRun(deps.db, runId)
  if (!kept) throw new Error('the report of a run was not kept')
  return kept
}

/** The report with this id, which cannot be guessed; undefined for any other text. */
export const findReport = async ({ db }: Deps, reportId: string): Promise<store.StoredReport | undefined> =>
  ID.test(reportId) ? store.findReport(db, reportId) : undefined

/** The report of a run; undefined until it has passed. */
export const reportOfRun = ({ db }: Deps, runId: string): Promise<store.StoredReport | undefined> =>
  store.findReportOfRun(db, runId)
