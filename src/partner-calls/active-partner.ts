import type { Deps } from '../deps.ts'
import { findPartner, type PartnerWithSecrets } from '../registry/index.ts'
import { noSuchPartner, RefusedRequest } from './errors.ts'

/** The partner with the secrets that its calls are signed with; throws for one that does not exist. */
export async function existingPartner(deps: Deps, partnerId: bigint): Promise<PartnerWithSecrets> {
  const partner = await findPartner(deps, partnerId)
  if (!partner) throw noSuchPartner(partnerId)
  return partner
}

/** For what must not be begun with a partner that is suspended. */
export async function activePartner(deps: Deps, partnerId: bigint): Promise<PartnerWithSecrets> {
  const partner = await existingPartner(deps, partnerId)
  if (partner.status !== 'active') throw new RefusedRequest(`partner ${partnerId} is ${partner.status}`)
  return partner
}
