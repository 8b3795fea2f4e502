import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign, verify } from 'node:crypto'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, everyKey } from '../../platform/lib/crypto/keys.ts'
import { canonicalJson } from '../../platform/lib/json/canonical-json.ts'
import { jsonIn } from '../../platform/lib/json/lossless.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { VERSION } from '../../platform/lib/version.ts'
import * as store from './store.ts'

const when = z.iso.datetime()
const count = z.int().min(0)
const orderIds = listOf('orders', z.string().regex(/^\d{1,19}$/))

/** What is signed. Ids are text because they may exceed 2^53; times are ISO 8601 in UTC. */
const reportContent = z.strictObject({
  /** Distinguishes reports from anything else the key may ever sign. */
  format: z.literal('gatehouse-sandbox-report-1'),
  /** PUBLIC_URL at that time. */
  issuer: z.string(),
  report_id: z.string(),
  partner_id: z.string(),
  partner_name: z.string(),
  run_number: count,
  /** The system functions that were chosen. */
  functions: listOf('functions', z.string()),
  /** In run order. */
  steps: listOf('functions', z.strictObject({ id: z.string(), passed_at: when, attempts: count })),
  /** Advisory steps whose prerequisites were missing. Left out if there are none. */
  not_tested: listOf('functions', z.string()).exactOptional(),
  /** Orders that the platform's own records show as consumed and as refunded, or some of them if there are many. */
  evidence: z.strictObject({ consumption: orderIds, refund: orderIds }),
  passed_at: when,
  service_version: z.string(),
})
type ReportContent = z.output<typeof reportContent>

/** What the report says about the run; signing adds the rest. */
export type ReportFacts = Omit<ReportContent, 'format' | 'issuer' | 'report_id' | 'service_version'>

export const verifyForm = z.object({
  content: z.string().trim().min(1).catch(''),
  signature: z.string().trim().catch(''),
})

/** In characters; real reports have some ten thousand at most. */
const MAX_REPORT_LENGTH = 65_536

const ID = /^[\w-]{22}$/

type ReportDeps = Pick<Deps, 'db' | 'keys'>

/** The PKCS #8 encoding of an Ed25519 key, up to its 32 bytes (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The key that signs reports, derived from SECRET_KEY, so it is the same in every process; as a JWK (RFC 8037) with the
 * RFC 7638 thumbprint as `kid`.
 */
export function reportKey(keys: DerivedKeys) {
  const der = Buffer.concat([PKCS8_HEAD, keys.report])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const kid = sha256(canonicalJson({ crv: 'Ed25519', kty: 'OKP', x })).toString('base64url')
  return { privateKey, jwk: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' } }
}

const publicReportKey = (x: string): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })

/** SubjectPublicKeyInfo, as openssl reads it. */
export const reportKeyPem = (x: string): string => publicReportKey(x).export({ format: 'pem', type: 'spki' }) as string

/** Our key that signed exactly this text: the current one, or one from before SECRET_KEY was replaced. */
export async function findSigningKey({ db, keys }: ReportDeps, content: string, signature: string) {
  if (!/^[\w-]{86}$/.test(signature)) return undefined
  const hasSigned = ({ x }: store.PublicKey) =>
    verify(null, Buffer.from(content), publicReportKey(x), Buffer.from(signature, 'base64url'))
  const own = everyKey(keys).map((key) => reportKey(key).jwk)
  return own.find(hasSigned) ?? (await store.findFormerKeys(db)).find(hasSigned)
}

/** Stores the public keys of SECRET_KEYS_OLD, so that reports can still be verified once these are gone. */
export async function storeReportKeys({ db, keys, clock }: Deps): Promise<void> {
  for (const other of keys.others) {
    const { kid, x } = reportKey(other).jwk
    await store.insertFormerKey(db, { kid, x }, clock.now())
  }
}

/** `unreadable`: not a report at all. `forged`: not signed by us in this form. */
export type Verdict =
  | { readonly verdict: 'genuine'; readonly report: ReportContent; readonly key: store.PublicKey }
  | { readonly verdict: 'forged' | 'unreadable' }

/**
 * Verifies a report regardless of whitespace and the order of names. Duplicate names in an object are refused, because
 * it would be unclear which of the values was signed.
 */
export async function examineReport(deps: ReportDeps, text: string, signature: string): Promise<Verdict> {
  if (text.length > MAX_REPORT_LENGTH) return { verdict: 'unreadable' }
  const { data: report } = reportContent.safeParse(jsonIn(text))
  if (!report) return { verdict: 'unreadable' }
  const key = await findSigningKey(deps, canonicalJson(report), signature)
  return key ? { verdict: 'genuine', report, key } : { verdict: 'forged' }
}

/** Signs and stores a run's report in the caller's transaction. A run keeps its first report. */
export async function storeReport(deps: Deps, runId: string, facts: ReportFacts): Promise<store.StoredReport> {
  const report_id = randomBytes(16).toString('base64url')
  const report: ReportContent = {
    ...facts,
    format: 'gatehouse-sandbox-report-1',
    issuer: deps.config.PUBLIC_URL,
    report_id,
    service_version: VERSION,
  }
  const content = canonicalJson(reportContent.parse(report))
  const { privateKey, jwk } = reportKey(deps.keys)
  const signature = sign(null, Buffer.from(content), privateKey).toString('base64url')
  const created_at = deps.clock.now()
  await store.insertReport(deps.db, { run_id: runId, report_id, content, signature, key_id: jwk.kid, created_at })
  const kept = await store.findReportOfRun(deps.db, runId)
  if (!kept) throw new Error('the report of a run was not kept')
  return kept
}

/** Report ids cannot be guessed. Undefined for any other text. */
export const findReport = async ({ db }: Deps, reportId: string): Promise<store.StoredReport | undefined> =>
  ID.test(reportId) ? store.findReport(db, reportId) : undefined

export const reportOfRun = ({ db }: Deps, runId: string): Promise<store.StoredReport | undefined> =>
  store.findReportOfRun(db, runId)
