import type { Deps } from '../deps.ts'
import { parseHttpDate } from '../lib/http-date.ts'
import { findPartnerByClientId, notePartnerSecretUse, type PartnerWithSecrets } from '../registry/partner.ts'
import { baFailed } from './errors.ts'
import { namesPartner, parseAuthorization, verify } from './signature.ts'

/** A partner's call before anything of it is believed. */
export interface PartnerCall {
  readonly method: string
  /** Request target as sent: the signature covers exactly that. */
  readonly url: string
  readonly authorization: string | undefined
  readonly date: string | undefined
  /** The PartnerId header; optional. */
  readonly partnerId: string | undefined
  /** Names of signature headers that came more than once. */
  readonly doubled: readonly string[]
}

/** The reason of a call whose signature is not the one of any live secret. */
export const SIGNATURE_UNFIT = 'the signature does not fit'

/**
 * The checks of area B's authentication (source, "Area B" rules 4 and 5), in order: headers, clientId, signature,
 * Date, PartnerId, standing. All fail with one text; which it was stays with us.
 */
export async function authenticateCall(deps: Deps, call: PartnerCall): Promise<PartnerWithSecrets> {
  const { authorization, date } = requireHeaders(call)
  const partner = await findCaller(deps, authorization)
  const used = verify({ ...call, authorization, date }, partner.client_id, secretsOf(partner))
  const secret = used === null ? undefined : partner.secrets[used]
  if (!secret) throw baFailed(SIGNATURE_UNFIT)
  checkDate(deps, date)
  checkPartnerId(partner, call.partnerId)
  if (partner.status !== 'active') throw baFailed('the partner is suspended')
  await notePartnerSecretUse(deps, secret)
  return partner
}

function requireHeaders({ authorization, date, doubled }: PartnerCall): { authorization: string; date: string } {
  for (const name of doubled) throw baFailed(`${name} came more than once`)
  if (!authorization) throw baFailed('Authorization is missing')
  if (!date) throw baFailed('Date is missing')
  return { authorization, date }
}

async function findCaller(deps: Deps, authorization: string): Promise<PartnerWithSecrets> {
  const parsed = parseAuthorization(authorization)
  if ('problem' in parsed) throw baFailed(`Authorization: ${parsed.problem}`)
  const partner = await findPartnerByClientId(deps, parsed.clientId)
  if (!partner) throw baFailed('no partner has this clientId')
  return partner
}

const secretsOf = (partner: PartnerWithSecrets): string[] => partner.secrets.map(({ secret }) => secret)

function checkDate({ clock, config }: Deps, date: string): void {
  const parsed = parseHttpDate(date)
  if ('problem' in parsed) throw baFailed(`Date: ${parsed.problem}`)
  const seconds = Math.abs(clock.now().getTime() - parsed.getTime()) / 1000
  if (seconds > config.MTP_CLOCK_SKEW_S) throw baFailed(`Date is ${Math.round(seconds)} seconds off`)
}

/** Optional; when present it must belong to the clientId. */
function checkPartnerId(partner: PartnerWithSecrets, given: string | undefined): void {
  if (given !== undefined && !namesPartner(given, partner.partner_id)) {
    throw baFailed('PartnerId does not belong to the clientId')
  }
}
