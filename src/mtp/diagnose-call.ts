import type { Deps } from '../deps.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import type { PartnerCall } from './authenticate.ts'
import { type Diagnosis, diagnose } from './diagnose/index.ts'

/** What is wrong with a call that claims to come from this partner; some 30 ms of work when its signature is wrong. */
export function diagnoseCall(
  { config, clock }: Deps,
  partner: PartnerWithSecrets | undefined,
  call: PartnerCall & { readonly host: string | undefined },
): Diagnosis {
  const known = partner && {
    clientId: partner.client_id,
    partnerId: String(partner.partner_id),
    secrets: partner.secrets.map(({ secret }) => secret),
    suspended: partner.status !== 'active',
  }
  const settings = { now: clock.now(), skewSeconds: config.MTP_CLOCK_SKEW_S, prefixes: config.MTP_PATH_PREFIXES }
  return diagnose(call, known ?? null, settings)
}
