import type { Deps } from '../../../platform/deps.ts'
import { masker } from '../../../platform/lib/crypto/masking.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import { INTERFACES, type InterfaceName, interfaceNamed, SUCCESS } from '../../../ticketing/interfaces/index.ts'
import {
  BY_PLAYGROUND,
  type CallRecord,
  callAsWritten,
  callNow,
  type Forgery,
  judgeCall,
  withCalls,
} from '../../../ticketing/partner-calls/index.ts'
import { interfaceUrl, type PartnerWithSecrets, secretTexts } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { type Expectation, type ExpectedChecks, examineCall, FORGED_CALLS, verdictOf } from '../../checks/index.ts'
import { noSuchEntry } from '../errors.ts'
import { findCall } from '../traffic/store.ts'
import { type BodyProblem, bodyToSend } from './body.ts'
import type { ExpectedOutcome, PlaySigning, Written } from './wire.ts'

export function coveredInterfaces(partner: PartnerWithSecrets) {
  const mask = masker(secretTexts(partner))
  return INTERFACES.flatMap(({ name, defaultPath }) => {
    const url = interfaceUrl(partner, name, defaultPath)
    return url === undefined ? [] : [{ name, url: mask(url) }]
  })
}

export const isCovered = (partner: PartnerWithSecrets, name: InterfaceName): boolean =>
  interfaceUrl(partner, name, interfaceNamed(name)?.defaultPath ?? '') !== undefined

/** An interface's codes for "not yet". */
export const pendingCodes = (name: string): number[] => Object.keys(interfaceNamed(name)?.pending ?? {}).map(Number)

/** A forged call always has to be refused. */
function expectedOf(
  name: string,
  forged: Forgery | null,
  expectedOutcome: ExpectedOutcome,
): { readonly expectation: Expectation; readonly expects: ExpectedChecks } {
  if (forged !== null)
    return { expectation: { refusal: FORGED_CALLS[forged].refusal }, expects: FORGED_CALLS[forged].expects }
  const pending = pendingCodes(name)
  const codes = {
    success: [SUCCESS],
    later: pending,
    either: [SUCCESS, ...pending],
    failure: 'failure',
  } as const satisfies Record<ExpectedOutcome, Expectation['codes']>
  return { expectation: { codes: codes[expectedOutcome] }, expects: {} }
}

/** Stores the verdict on a call's response, which Traffic shows. */
export async function judge(
  deps: Deps,
  { stage }: PartnerWithSecrets,
  call: CallRecord,
  expectedOutcome: ExpectedOutcome,
): Promise<void> {
  const { expectation, expects } = expectedOf(call.interface, call.forged, expectedOutcome)
  const findings = await examineCall(deps, stage, call, expectation)
  await judgeCall(deps.db, call.call_id, verdictOf(findings, expects))
}

/** Returns the call's id, or why nothing was sent. Throws 20007 (404) without a URL, 20003 when rate-limited. */
export async function sendWritten(
  deps: RunDeps,
  partner: PartnerWithSecrets,
  name: InterfaceName,
  { body, sign, expect }: Written,
): Promise<{ readonly callId: string } | BodyProblem> {
  const { partner_id: partnerId } = partner
  if (!isCovered(partner, name)) throw noSuchEntry()
  const own = await bodyToSend(deps, partner, name, body)
  if ('kind' in own) return own
  const { text, orderId } = own
  await countUse(deps, 'play', partnerId)
  callNow(deps, partner)
  const options = {
    cause: BY_PLAYGROUND,
    ...(orderId === undefined ? {} : { orderId }),
    ...(sign === 'right' ? {} : { forge: sign }),
  }
  const { result, calls } = await withCalls(deps, (inside) => callAsWritten(inside, partner, name, text, options))
  for (const { call } of calls) await judge(deps, partner, call, expect)
  return { callId: result.callId }
}

/** A call to this partner at this interface, with the checks of its response; undefined if there is none. */
export async function resultOf(
  deps: Deps,
  { partner_id, stage }: PartnerWithSecrets,
  { name, id, expectedOutcome }: { name: string; id: string; expectedOutcome: ExpectedOutcome },
) {
  const found = await findCall(deps.db, partner_id, id)
  if (found?.interface !== name) return undefined
  const orderId = found.order_id === null ? null : BigInt(found.order_id)
  const call = { ...found, call_id: id, partner_id, order_id: orderId, started_at: found.at }
  const { expectation, expects } = expectedOf(name, found.forged, expectedOutcome)
  const findings = await examineCall(deps, stage, call, expectation)
  return {
    body: found.request_body,
    sign: (found.forged ?? 'right') satisfies PlaySigning,
    orderId: orderId ?? undefined,
    findings: findings.map((finding) => ({ ...finding, level: finding.level ?? expects[finding.id] ?? 'error' })),
  }
}
