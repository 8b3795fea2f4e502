import type { Deps } from '../deps.ts'
import { findPartner, findPartnerByClientId, type PartnerWithSecrets } from '../registry/partner.ts'
import { type Answer, accepted, refused } from './answer.ts'
import type { PartnerCall } from './authenticate.ts'
import { type Diagnosis, readLooseAuthorization } from './diagnose/index.ts'
import { diagnoseCall } from './diagnose-call.ts'
import { BA_FAILED } from './errors.ts'
import { shortened } from './reject.ts'
import { pathAsSent } from './signature.ts'
import * as store from './signature-test-store.ts'

/** Of each partner the newest are kept. Anybody may name a clientId, so strangers could crowd them out, but no pass. */
const KEPT = 50
const LONGEST = 1_024

export interface SignatureAnswer extends Answer {
  readonly diagnosis?: {
    /** The first of `mistakes`. */
    readonly mistake: string
    readonly mistakes: readonly string[]
    readonly explanation: string
    /** What should have been signed. The right signature is never told. */
    readonly stringToSign: string
    readonly signedInstead?: string
  }
}

/**
 * The signature tool (sandbox, step 2): 200 for a right call, else 300 and what went wrong. The verdict is kept for the
 * partner to see in the sandbox.
 */
export async function testSignature(deps: Deps, call: PartnerCall, host: string | undefined): Promise<SignatureAnswer> {
  const partner = await claimedPartner(deps, call)
  const found = diagnoseCall(deps, partner, { ...call, host })
  const { mistakes, explanation, stringToSign, signedInstead } = found
  if (partner) await keep(deps, partner, call, found, 'sent')
  const [mistake] = mistakes
  if (partner && mistake === undefined) return accepted(partner.partner_id)
  const diagnosis = {
    mistake: mistake ?? 'signature-unrecognised',
    mistakes,
    explanation,
    stringToSign,
    ...(signedInstead === undefined ? {} : { signedInstead }),
  }
  return { ...refused(BA_FAILED, partner ? String(partner.partner_id) : ''), diagnosis }
}

/** A call as its partner pasted it; `url` may be a path or a whole URL, and `host` what its Host header held. */
export type PastedCall = Omit<PartnerCall, 'doubled'> & { readonly host: string | undefined }

/**
 * The same verdict for a call that was pasted, and kept too; returns its `testId`. The call is held against the secrets
 * of this partner only, whatever clientId it names.
 */
export async function testPastedSignature(deps: Deps, partnerId: bigint, call: PastedCall): Promise<bigint> {
  const partner = await findPartner(deps, partnerId)
  if (!partner) throw new Error('no such partner')
  const whole = { ...call, doubled: [] }
  return keep(deps, partner, whole, diagnoseCall(deps, partner, whole), 'pasted')
}

/** What the tool said lately to this partner and whoever used its clientId, newest first, 50 at most. */
export const listSignatureTests = (deps: Deps, partnerId: bigint): Promise<SignatureTest[]> =>
  store.listTests(deps.db, partnerId)

export type SignatureTest = store.SignatureTest

/** Whether this partner has once got a signature right, sent or pasted: it never has to again. */
export const hasPassedSignatureTool = (deps: Deps, partnerId: bigint): Promise<boolean> =>
  store.hasPassed(deps.db, partnerId)

function keep(
  { db, clock }: Deps,
  { partner_id }: PartnerWithSecrets,
  { method, url, date = '', authorization = '' }: PartnerCall,
  { mistakes, stringToSign, signedInstead }: Diagnosis,
  source: SignatureTest['source'],
): Promise<bigint> {
  const cut = (text: string): string => text.slice(0, LONGEST)
  const test = {
    partnerId: partner_id,
    source,
    mistakes,
    method,
    path: cut(pathAsSent(url)),
    date: cut(date),
    authorization: shortened(authorization),
    stringToSign: cut(stringToSign),
    signedInstead: signedInstead === undefined ? null : cut(signedInstead),
  }
  const now = clock.now()
  return db.tx(async (inside) => {
    const testId = await store.insertTest(inside, test, now)
    await store.deleteTestsBeyond(inside, partner_id, KEPT)
    if (mistakes.length === 0) await store.insertPass(inside, partner_id, now)
    return testId
  })
}

/** By clientId, also from a header that is malformed, else by PartnerId: somebody may have put the one for the other. */
async function claimedPartner(deps: Deps, { authorization, partnerId }: PartnerCall) {
  const { clientId } = readLooseAuthorization(authorization ?? '')
  const candidates = [clientId, partnerId ?? '']
  const found: PartnerWithSecrets | undefined = clientId ? await findPartnerByClientId(deps, clientId) : undefined
  if (found) return found
  const number = candidates.find((text) => /^\d{1,19}$/.test(text))
  return number === undefined ? undefined : findPartner(deps, BigInt(number))
}
