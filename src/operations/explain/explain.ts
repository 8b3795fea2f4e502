import { z } from 'zod'
import { findUsers, rowKeyOf } from '../../authorization/account/index.ts'
import { ACCESS_TOKENS, listGrants } from '../../authorization/oauth/index.ts'
import {
  findRefused,
  parseTokenPrefix,
  type RefusedRow,
  type RefusingCheck,
  refusedAfter,
  refusedOfApp,
  refusedOfUser,
  refusedWithToken,
  refusingCheckOf,
} from '../../authorization/refusals/index.ts'
import { existingAppKeys, showMicroApp } from '../../authorization/registry/index.ts'
import { auditBetween } from '../../platform/audit/index.ts'
import { isBigint } from '../../platform/db/page.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { InvalidInput, type OutputOf } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { maskedAnswer, maskedReason } from '../../platform/lib/masked-reason.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { ifFound, invalidRequest, nameOfRescode } from '../../platform/lib/web/rescode.ts'
import { findNotice } from '../../ticketing/mtp/index.ts'
import { findRejectedCall, type RejectedCallSummary, rejectedCallsOf } from '../../ticketing/mws/index.ts'
import { showOrder } from '../../ticketing/orders/index.ts'
import { findPartnerByClientId } from '../../ticketing/partners/index.ts'

export const oneRequest = z.strictObject({ request_id: z.uuid(problem('must-be-request-id')) })
export const aboutWhat = z.strictObject({ about: z.string().min(1).max(300) })

/** The most entries in one list. */
const MAX_ROWS = 20
/** For how long after a refusal later events are shown. */
const FOLLOWS_S = 600

/** A refused request of area A, and why it was refused. */
export interface ExplainedRefusal extends RefusedRow {
  /** The name of the rescode. */
  readonly answer: string
  /** The row of the check sequence that refused it; null if no row did. */
  readonly step: RefusingCheck | null
}

/** What is known about one request, if it was refused or is a notice. */
interface ExplainedRequest {
  readonly refusal?: ExplainedRefusal
  /** What the app has registered for the parameter that was refused. */
  readonly registered?: Readonly<Record<string, readonly string[]>>
  /** The ten minutes after it: what the same app or token was refused, and the matching audit events. */
  readonly followed?: {
    readonly refusals: readonly ExplainedRefusal[]
    readonly audit: Readonly<OutputOf<typeof auditBetween>>
  }
  readonly rejected_call?: RejectedCallSummary
  readonly notice?: OutputOf<typeof findNotice>
}

/** What is known about the text asked for; fields without a result are absent. */
export interface Explained extends ExplainedRequest, Found {
  readonly token?: OutputOf<typeof tokenOf>
}

type Found = { readonly [Name in keyof typeof FINDERS]?: NonNullable<OutputOf<(typeof FINDERS)[Name]>> }

const nothingKnown = (about: string) => invalidRequest(localized('no-record', { about }), { status: 404 })

const explained = (row: RefusedRow): ExplainedRefusal => ({
  ...row,
  answer: nameOfRescode(row.rescode),
  step: refusingCheckOf(row),
})

/** Everything known about a request; throws 20007 (404) if there is nothing. */
export async function explainRequest(deps: Deps, requestId: string): Promise<ExplainedRequest> {
  const parts = await requestOf(deps, requestId)
  if (Object.keys(parts).length === 0) throw nothingKnown(`request ${requestId}`)
  return parts
}

async function registeredOf(
  deps: Deps,
  { received, app_key }: RefusedRow,
): Promise<Pick<ExplainedRequest, 'registered'>> {
  if (received === null || app_key === null || (await existingAppKeys(deps.db, [app_key])).length === 0) return {}
  const { hosts, redirect_uris, scopes } = await showMicroApp(deps, app_key)
  if ('redirect_uri' in received) return { registered: redirect_uris.length > 0 ? { redirect_uris } : { hosts } }
  return 'scope' in received ? { registered: { scopes } } : {}
}

async function requestOf(deps: Deps, id: string): Promise<ExplainedRequest> {
  const { db } = deps
  const [refused, call, notice] = await Promise.all([findRefused(db, id), findRejectedCall(db, id), findNotice(db, id)])
  const until = refused && addSeconds(refused.at, FOLLOWS_S)
  const followed = refused &&
    until && {
      refusals: (await refusedAfter(db, refused, until, MAX_ROWS)).map(explained),
      audit: await auditBetween(
        db,
        { from: refused.at, until, appKey: refused.app_key, cid: refused.cid, userId: refused.user_id },
        MAX_ROWS,
      ),
    }
  return {
    ...(refused && followed ? { refusal: explained(refused), followed, ...(await registeredOf(deps, refused)) } : {}),
    ...(call ? { rejected_call: call } : {}),
    ...(notice ? { notice } : {}),
  }
}

/**
 * Everything known about a request id, an order id, the beginning of a token (17 characters), a clientId, an app_key, a
 * passport or a phone number; of several kinds if the text matches several. Throws 20007 (404) if there is nothing.
 */
export async function explain(deps: Deps, about: string): Promise<Explained> {
  const token = parseTokenPrefix(about)
  const parts = isUuid(about)
    ? await requestOf(deps, about)
    : token
      ? { token: await tokenOf(deps, token) }
      : await findAll(deps, about)
  if (Object.keys(parts).length > 0) return parts
  if (/^\d{19}$/.test(about) && !isBigint(about))
    throw new InvalidInput([{ field: 'about', problem: localized('larger-than-ids') }])
  throw nothingKnown('it')
}

/** `issued`: tokens with this routing key and expiry second, usually one. */
async function tokenOf(
  { db }: Deps,
  { begins, kind, routingKey, expiresAt }: NonNullable<ReturnType<typeof parseTokenPrefix>>,
) {
  const [issued, refusals] = await Promise.all([
    ACCESS_TOKENS.withPrefix(db, kind, routingKey, expiresAt),
    refusedWithToken(db, begins, MAX_ROWS),
  ])
  return { begins, kind, expires_at: expiresAt, issued, refusals: refusals.map(explained) }
}

const orderOf = async (deps: Deps, about: string) =>
  /^\d{10,19}$/.test(about) && isBigint(about) ? ifFound(showOrder(deps, BigInt(about))) : undefined

async function appOf(deps: Deps, about: string) {
  if ((await existingAppKeys(deps.db, [about])).length === 0) return undefined
  const { app_key, name, status } = await showMicroApp(deps, about)
  return { app_key, name, status, refusals: (await refusedOfApp(deps.db, app_key, { limit: MAX_ROWS })).map(explained) }
}

async function partnerOf(deps: Deps, about: string) {
  const partner = await findPartnerByClientId(deps, about)
  if (!partner) return undefined
  const { partner_id, client_id, status, stage } = partner
  return { partner_id, client_id, status, stage, rejected_calls: await rejectedCallsOf(deps.db, partner_id, MAX_ROWS) }
}

async function peopleOf(deps: Deps, about: string) {
  const users = await findUsers(deps, about, MAX_ROWS)
  const people = users.map(async (person) => {
    const { cid, user_id } = person
    const [{ grants }, refusals] = await Promise.all([
      listGrants(deps, { cid, user_id, limit: MAX_ROWS }),
      refusedOfUser(deps.db, rowKeyOf(person), MAX_ROWS),
    ])
    return { ...person, grants, refusals: refusals.map(explained) }
  })
  return users.length > 0 ? Promise.all(people) : undefined
}

const FINDERS = { order: orderOf, app: appOf, partner: partnerOf, people: peopleOf }

async function findAll(deps: Deps, about: string): Promise<Found> {
  const finding = Object.entries(FINDERS).map(async ([name, find]) => [name, await find(deps, about)] as const)
  return Object.fromEntries((await Promise.all(finding)).filter(([, found]) => found !== undefined))
}

/** Masks what the partner wrote, for operators who may not see personal data. */
export const withoutPartnerTexts = ({ rejected_call: call, notice, ...found }: ExplainedRequest): ExplainedRequest => ({
  ...found,
  ...(call && {
    rejected_call: { ...call, reason: maskedReason(call.reason), answer: maskedAnswer(call.answer, call.reason) },
  }),
  ...(notice && { notice: { ...notice, answer: maskedAnswer(notice.answer, null) } }),
})
