import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { BODY_DECRYPTED } from '../../platform/lib/crypto/aes-body.ts'
import { BODY_MASKED, maskedHeaders, masker, shortened } from '../../platform/lib/crypto/masking.ts'
import { type LocalizedText, localized, withValues } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import { networkOf } from '../../platform/throttle/index.ts'
import { nearestPath } from '../mws-wire/index.ts'
import { findPartnerByClientId, type PartnerWithSecrets, secretTexts } from '../partners/index.ts'
import { isVerified, type PartnerCall, parseAuthorization } from './authenticate.ts'
import { isWholeBody } from './body-guard.ts'
import { diagnoseCall } from './diagnose-call.ts'
import type { IncomingDeps } from './incoming-calls.ts'
import { exceededQuota, LONGEST_ENTRY } from './rejected-quota.ts'
import { explainRejectedCall, insertRejectedCall } from './rejected-store.ts'

/** Limit of one clientId and network, so that one sender leaves room for others. */
const DIAGNOSED = { kind: 'rejected call diagnosed', most: 20, windowS: 300 } as const

/** Most analyses are done by then; after a slower one the kept call is updated. */
const DIAGNOSIS_WAIT_MS = 500

/** While this many entries are being written, further unverified calls are only logged. */
const MAX_CONCURRENT_WRITES = 50
/** A lower cap for calls to wrong paths, so that they cannot crowd out the rest. */
const MAX_CONCURRENT_WRONG_PATHS = 10

/** Whether the kept body has all bytes of the call: it was read, and neither cut nor masked. */
export const isKeptWhole = (body: string, headers: Readonly<Record<string, string>> | null | undefined): boolean =>
  isWholeBody(body) && body.length < LONGEST_ENTRY.verified.body && headers?.[BODY_MASKED] === undefined

export interface Rejection {
  /** Becomes the id of the entry; undefined for a replay. */
  readonly requestId?: string | undefined
  readonly call: PartnerCall
  /** Whether signature and Date prove that the partner sent it. */
  readonly verified: boolean
  /** The caller's address; undefined for a replay. */
  readonly address?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  /** Whether the body was encrypted. */
  readonly decrypted?: boolean
  readonly reason: LocalizedText
  readonly answer: string
}

/**
 * Keeps a rejected call for its partner to see; calls that name no known partner are only logged. Unverified callers
 * must not wait for this: the time would reveal whether the clientId exists.
 */
export function keepRejected(deps: IncomingDeps, rejection: Rejection): Promise<void> {
  const most = rejection.verified ? Number.POSITIVE_INFINITY : MAX_CONCURRENT_WRITES
  return keepUnlessBusy(deps, most, rejection.call, (partner) => keepRejectedOf(deps, partner, rejection))
}

/**
 * Keeps a call with a wrong method, or to a path that does not exist, with the path that was probably meant. It checks
 * the signature, to tell the partner's own calls from those of strangers, so nobody must wait for it either.
 */
export const keepWrongPath = (deps: IncomingDeps, rejection: Omit<Rejection, 'verified'>): Promise<void> =>
  keepUnlessBusy(deps, MAX_CONCURRENT_WRONG_PATHS, rejection.call, (partner) => {
    const { call, reason } = rejection
    const path = pathAsSent(call.url)
    const nearest = nearestPath(deps.config.MTP_PATH_PREFIXES, path)
    const explained = nearest === undefined || nearest === path ? reason : withNearest(reason, nearest)
    return keepRejectedOf(deps, partner, { ...rejection, reason: explained, verified: isVerified(deps, partner, call) })
  })

const withNearest = (reason: LocalizedText, path: string): LocalizedText => {
  if (reason.id === 'wrong-path') return localized('wrong-path-near', { path })
  return reason.id === 'first-version'
    ? localized('first-version-near', { mount: reason.values.mount ?? '', path })
    : reason
}

/** Does nothing if the call names no known partner, or while `most` entries are being written. */
function keepUnlessBusy(
  deps: IncomingDeps,
  most: number,
  call: PartnerCall,
  keep: (partner: PartnerWithSecrets) => Promise<unknown>,
): Promise<void> {
  const { rejected } = deps.incoming
  if (rejected.size >= most) return Promise.resolve()
  return rejected.store(async () => {
    const parsed = parseAuthorization(call.authorization ?? '')
    if ('problem' in parsed) return
    const partner = await findPartnerByClientId(deps, parsed.clientId)
    if (partner) await keep(partner)
  })
}

/** Keeps a rejected call of a known partner. Returns the id of the entry, or undefined if there are too many. */
export async function keepRejectedOf(
  deps: IncomingDeps,
  partner: PartnerWithSecrets,
  rejection: Rejection,
): Promise<string | undefined> {
  const { verified } = rejection
  const { rejected } = deps.incoming
  rejected.count(partner.partner_id, verified)
  const entry = entryOf(partner, rejection)
  const bytes = JSON.stringify(entry.headers).length + entry.body.length
  const exceeded = exceededQuota(deps, { clientId: partner.client_id, address: rejection.address, verified, bytes })
  if (exceeded) {
    rejected.countUnstored(partner, verified, exceeded.endsInMs)
    return undefined
  }
  const callId = rejection.requestId ?? randomUUID()
  const now = deps.clock.now()
  const diagnosis = reasonOf(deps, partner, rejection, entry.reason)
  const inTime = await Promise.race([diagnosis, sleep(DIAGNOSIS_WAIT_MS, undefined, { ref: false })]).catch(
    () => undefined,
  )
  await insertRejectedCall(deps.db, { callId, ...entry, reason: inTime ?? entry.reason, verified }, now)
  if (inTime === undefined) {
    const later = await diagnosis.catch(() => entry.reason)
    if (later !== entry.reason) await explainRejectedCall(deps.db, callId, later)
  }
  return callId
}

/** Longer than any spelling of a secret, so that one across the cut is still masked. */
const LONGEST_SECRET = 4_096

/** The entry of a rejected call. Some clients send their secret along, so everything is masked before it is cut. */
function entryOf(partner: PartnerWithSecrets, { call, headers, ...rejection }: Rejection) {
  const { partner_id, client_id } = partner
  const most = LONGEST_ENTRY[rejection.verified ? 'verified' : 'unverified']
  const mask = masker(secretTexts(partner))
  const beginning = rejection.body.slice(0, most.body + LONGEST_SECRET)
  const body = mask(beginning)
  return {
    partnerId: partner_id,
    clientId: client_id,
    path: cutTo(mask(pathAsSent(call.url)), 1_024),
    ...(call.method === 'POST' ? {} : { method: call.method }),
    reason: withValues(rejection.reason, mask),
    headers: {
      ...cutHeaders(maskedHeaders(headers, mask), most.headers),
      authorization: shortened(mask(call.authorization ?? '')),
      ...(body === beginning ? {} : { [BODY_MASKED]: 'yes' }),
      ...(rejection.decrypted ? { [BODY_DECRYPTED]: 'yes' } : {}),
    },
    body: cutTo(body, most.body),
    answer: rejection.answer,
  }
}

/** Headers that explain the call are kept first, because there may be any number of others. */
const FIRST = ['date', 'partnerid', 'content-type', 'host']
const LONGEST_VALUE = 512

function cutHeaders(headers: Readonly<Record<string, string>>, most: number): Record<string, string> {
  const kept: Record<string, string> = {}
  let size = 0
  for (const name of [...FIRST, ...Object.keys(headers)]) {
    const value = headers[name]
    if (value === undefined || name === 'authorization' || name in kept) continue
    const cut = value.length > LONGEST_VALUE ? `${cutTo(value, LONGEST_VALUE)}…` : value
    size += name.length + cut.length
    if (size > most) break
    kept[name] = cut
  }
  return kept
}

/** Adds the mistakes of a wrong signature to the reason. The signature is not kept, so it must be analysed now. */
async function reasonOf(
  deps: IncomingDeps,
  partner: PartnerWithSecrets,
  { call, headers, address = '' }: Rejection,
  reason: LocalizedText,
): Promise<LocalizedText> {
  if (reason.id !== 'signature-unfit') return reason
  if (deps.rateLimiter.count(DIAGNOSED, `${partner.client_id}\n${networkOf(address)}`).exceeded) return reason
  const { mistakes } = await diagnoseCall(deps, partner, { ...call, host: String(headers.host ?? '') }, 'caller')
  return mistakes.length === 0 ? reason : localized('signature-mistakes', { mistakes: mistakes.join(', ') })
}
