import { mountsOf } from '../../platform/config/mounts.ts'
import type { Deps } from '../../platform/deps.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import type { PartnerCall } from './authenticate.ts'
import { needsSearch } from './diagnose/diagnosed.ts'
import { type DiagnosedPartner, type Diagnosis, type DiagnosisSettings, diagnose, explain } from './diagnose/index.ts'
import type { SearchBudget } from './diagnose/signature-searches.ts'
import { placeholderPartner } from './diagnose/unverified.ts'
import type { IncomingDeps } from './incoming-calls.ts'

type SentCall = PartnerCall & { readonly host: string | undefined }

export const settingsOf = ({ config, clock }: Deps): DiagnosisSettings => ({
  now: clock.now(),
  skewSeconds: config.MTP_CLOCK_SKEW_S,
  mounts: mountsOf(config.MTP_PATH_PREFIXES),
  prefixes: config.MTP_PATH_PREFIXES,
})

const diagnosed = ({ client_id, partner_id, secrets, status, stage }: PartnerWithSecrets): DiagnosedPartner => ({
  clientId: client_id,
  partnerId: String(partner_id),
  secrets: secrets.map(({ secret }) => secret),
  suspended: status !== 'active',
  strict: stage === 'sandbox',
})

/**
 * A wrong signature is analysed in a thread, within a budget; without one the mistake is `diagnosis-busy`. `partner`:
 * undefined if the clientId is unknown.
 */
export async function diagnoseCall(
  deps: IncomingDeps,
  partner: PartnerWithSecrets | undefined,
  call: SentCall,
  budget: SearchBudget | undefined,
): Promise<Diagnosis> {
  const search = { call, partner: partner ? diagnosed(partner) : placeholderPartner(call), settings: settingsOf(deps) }
  if (!needsSearch(call, search.partner, search.settings)) return diagnose(call, search.partner, search.settings)
  const diagnosis = budget && (await deps.incoming.searches.run(budget, search))
  return diagnosis ?? diagnose(call, search.partner, search.settings, () => 'busy')
}

/** Diagnoses a correctly signed call without a search; undefined for any other. */
export function diagnoseIfVerified(deps: Deps, partner: PartnerWithSecrets, call: SentCall): Diagnosis | undefined {
  const diagnosis = diagnose(call, diagnosed(partner), settingsOf(deps), (...asked) => explain(...asked, []))
  return diagnosis.verified ? diagnosis : undefined
}
