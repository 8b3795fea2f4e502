import type { Deps } from '../deps.ts'
import { findPartner, findPartnerByClientId, type PartnerWithSecrets } from '../registry/partner.ts'
import { type Answer, accepted, refused } from './answer.ts'
import type { PartnerCall } from './authenticate.ts'
import { readLooseAuthorization } from './diagnose/index.ts'
import { diagnoseCall } from './diagnose-call.ts'
import { BA_FAILED } from './errors.ts'

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

/** The signature tool (sandbox, step 2): 200 for a right call, else 300 and what went wrong. */
export async function testSignature(deps: Deps, call: PartnerCall, host: string | undefined): Promise<SignatureAnswer> {
  const partner = await claimedPartner(deps, call)
  const { mistakes, explanation, stringToSign, signedInstead } = diagnoseCall(deps, partner, { ...call, host })
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

/** By clientId, also from a header that is malformed, else by PartnerId: somebody may have put the one for the other. */
async function claimedPartner(deps: Deps, { authorization, partnerId }: PartnerCall) {
  const { clientId } = readLooseAuthorization(authorization ?? '')
  const candidates = [clientId, partnerId ?? '']
  const found: PartnerWithSecrets | undefined = clientId ? await findPartnerByClientId(deps, clientId) : undefined
  if (found) return found
  const number = candidates.find((text) => /^\d{1,19}$/.test(text))
  return number === undefined ? undefined : findPartner(deps, BigInt(number))
}
