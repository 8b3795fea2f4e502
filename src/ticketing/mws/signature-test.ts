import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../platform/deps.ts'
import { masker, shortened } from '../../platform/lib/crypto/masking.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import { networkOf } from '../../platform/throttle/index.ts'
import { BA_FAILED, type Envelope, rejectionEnvelope, successEnvelope } from '../mws-wire/index.ts'
import { findPartner, findPartnerByClientId, type PartnerWithSecrets, secretTexts } from '../partners/index.ts'
import { claimedPartnerId, type PartnerCall } from './authenticate.ts'
import { readLooseAuthorization } from './diagnose/authorization.ts'
import type { Diagnosis } from './diagnose/index.ts'
import { EXPLANATIONS } from './diagnose/mistakes.ts'
import { contentMistakes, contentWarnings, type SentContent } from './diagnose/warnings.ts'
import { diagnoseCall, diagnoseIfVerified, diagnoseUnverified, settingsOf } from './diagnose-call.ts'
import type { IncomingDeps } from './incoming-calls.ts'
import { deleteTestsBeyond, insertPass, insertTest, type SignatureTest } from './signature-test-store.ts'

/**
 * How many of a partner's newest tests are kept. Strangers' tests are counted apart, so they cannot push out its own.
 */
const KEPT = { verified: 50, unverified: 20 } as const
const LONGEST = 1_024

/** Limits of analysed calls from one network and for one clientId, so that a stranger leaves room for others. */
const SEARCHED_OF_NETWORK = { kind: 'signature searched of network', most: 20, windowS: 60 } as const
const SEARCHED = { kind: 'signature searched', most: 60, windowS: 60 } as const
/** Limit of strangers' tests that are kept. */
const UNVERIFIED = { kind: 'signature test unverified', most: 20, windowS: 300 } as const

/** Unverified callers wait for a multiple of this, so that the time does not reveal whether the clientId exists. */
const ANSWER_STEP_MS = 250

export interface SignatureAnswer extends Envelope {
  /** Why a notice like this would be refused, or, from a live partner, accepted with a warning. */
  readonly warnings?: readonly string[]
  readonly diagnosis?: ShownDiagnosis
}

/** What was found; the right signature is never revealed. */
interface ShownDiagnosis extends Pick<Diagnosis, 'mistakes' | 'explanation' | 'stringToSign' | 'signedInstead'> {
  /** The first of `mistakes`. */
  readonly mistake: string
}

type TestedCall = PartnerCall & { readonly host: string | undefined; readonly address: string }

/**
 * The signature tool (README "The sandbox"): 200 for a correct call, otherwise 300 and the mistakes. The verdict is
 * kept for the partner to see in the sandbox. Only callers that prove to hold a secret get results that depend on the
 * partner.
 */
export async function testSignature(
  deps: IncomingDeps,
  call: TestedCall,
  content: SentContent,
): Promise<SignatureAnswer> {
  const began = performance.now()
  const { partner, diagnosis: proved } = await identifyCaller(deps, call)
  if (partner && proved) return storeAndAnswer(deps, partner, call, proved, content)
  const { clientId } = readLooseAuthorization(call.authorization ?? '')
  const tooMany =
    deps.rateLimiter.count(SEARCHED_OF_NETWORK, networkOf(call.address)).exceeded ||
    deps.rateLimiter.count(SEARCHED, clientId).exceeded
  // Also for an unknown clientId: otherwise the time, or a busy thread, would reveal that it is unknown.
  const diagnosis = await diagnoseCall(deps, partner, call, tooMany ? undefined : 'caller')
  if (partner) {
    if (diagnosis.verified) return storeAndAnswer(deps, partner, call, diagnosis, content)
    if (!deps.rateLimiter.count(UNVERIFIED, clientId).exceeded)
      await keep(deps, partner, call, diagnosis, 'sent', false)
  }
  const unverified = diagnoseUnverified(call, settingsOf(deps), diagnosis.mistakes.includes('diagnosis-busy'))
  if (clientId !== '') await sleep(ANSWER_STEP_MS - ((performance.now() - began) % ANSWER_STEP_MS))
  return { ...rejectionEnvelope(BA_FAILED, claimedPartnerId(call.partnerId)), diagnosis: shown(unverified) }
}

/** `diagnosis` is set if the signature proves who calls. */
interface Caller {
  readonly partner?: PartnerWithSecrets | undefined
  readonly diagnosis?: Diagnosis | undefined
}

/**
 * The partner with the clientId of the call. If that is unknown, because it was mistyped or is the PartnerId: the
 * partner with the PartnerId of the call, if the signature is otherwise right.
 */
async function identifyCaller(deps: Deps, call: TestedCall): Promise<Caller> {
  const { clientId } = readLooseAuthorization(call.authorization ?? '')
  const named = clientId ? await findPartnerByClientId(deps, clientId) : undefined
  if (named) return { partner: named, diagnosis: diagnoseIfVerified(deps, named, call) }
  const number = claimedPartnerId(clientId) || claimedPartnerId(call.partnerId)
  const other = number === '' ? undefined : await findPartner(deps, BigInt(number))
  const diagnosis = other && diagnoseIfVerified(deps, other, call)
  return diagnosis ? { partner: other, diagnosis } : {}
}

async function storeAndAnswer(
  deps: Deps,
  partner: PartnerWithSecrets,
  call: TestedCall,
  diagnosis: Diagnosis,
  content: SentContent,
): Promise<SignatureAnswer> {
  const found = withContent(diagnosis, content)
  const warnings = [...found.warnings, ...contentWarnings(partner, content)]
  await keep(deps, partner, call, { ...found, warnings }, 'sent', true)
  const warned = warnings.length > 0 ? { warnings } : {}
  if (found.mistakes.length === 0) return { ...successEnvelope(partner.partner_id), ...warned }
  return { ...rejectionEnvelope(BA_FAILED, String(partner.partner_id)), ...warned, diagnosis: shown(found) }
}

/** Adds the mistakes that the signature does not cover, so that the caller learns all of them at once. */
function withContent(found: Diagnosis, content: SentContent): Diagnosis {
  const more = contentMistakes(content)
  if (more.length === 0) return found
  const explanation = more.map((name) => EXPLANATIONS[name]).join(' ')
  return {
    ...found,
    mistakes: [...found.mistakes, ...more],
    explanation: found.mistakes.length === 0 ? explanation : `${found.explanation} ${explanation}`,
  }
}

const shown = ({ mistakes, explanation, stringToSign, signedInstead }: Diagnosis): ShownDiagnosis => ({
  mistake: mistakes[0] ?? 'signature-unrecognised',
  mistakes,
  explanation,
  stringToSign,
  ...(signedInstead === undefined ? {} : { signedInstead }),
})

/** A call that its partner pasted. `url` may be a path or a whole URL; `host` is the Host header. */
export type PastedCall = Omit<PartnerCall, 'doubled'> & { readonly host: string | undefined }

/** Judges a pasted call by this partner's secrets and keeps the verdict; returns its `test_id`. */
export async function testPastedSignature(deps: IncomingDeps, partnerId: bigint, call: PastedCall): Promise<bigint> {
  const partner = await findPartner(deps, partnerId)
  if (!partner) throw new Error('no such partner')
  const whole = { ...call, doubled: [] }
  return keep(deps, partner, whole, await diagnoseCall(deps, partner, whole, 'partner'), 'pasted', true)
}

/** Counts a correctly signed call to another endpoint as passed: it proves the same. */
export async function passSignatureTool({ db, clock, incoming }: IncomingDeps, partnerId: bigint): Promise<void> {
  const known = incoming.passedSignatureTool
  if (known.has(partnerId)) return
  await insertPass(db, partnerId, clock.now())
  known.add(partnerId)
}

function keep(
  { db, clock }: Deps,
  partner: PartnerWithSecrets,
  { method, url, date = '', authorization = '' }: PartnerCall,
  { mistakes, warnings, stringToSign, signedInstead }: Diagnosis,
  source: SignatureTest['source'],
  verified: boolean,
): Promise<bigint> {
  // A caller may have put the secret anywhere, such as in place of the clientId. Mask before cutting.
  const { partner_id } = partner
  const mask = masker(secretTexts(partner))
  const cut = (text: string): string => cutTo(mask(text), LONGEST)
  const now = clock.now()
  const test = {
    tested_at: now,
    source,
    mistakes,
    warnings,
    verified,
    method,
    path: cut(pathAsSent(url)),
    date_header: cut(date),
    authorization_header: cut(shortened(mask(authorization))),
    string_to_sign: cut(stringToSign),
    signed_instead: signedInstead === undefined ? null : cut(signedInstead),
  }
  return db.tx(async (inside) => {
    const testId = await insertTest(inside, partner_id, test)
    await deleteTestsBeyond(inside, partner_id, verified, KEPT[verified ? 'verified' : 'unverified'])
    if (mistakes.length === 0) await insertPass(inside, partner_id, now)
    return testId
  })
}
