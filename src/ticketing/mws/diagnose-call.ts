import { randomBytes } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { claimedPartnerId, type PartnerCall } from './authenticate.ts'
import { readLooseAuthorization } from './diagnose/authorization.ts'
import { RECIPES } from './diagnose/find-mistakes.ts'
import {
  type DiagnosedCall,
  type DiagnosedPartner,
  type Diagnosis,
  type DiagnosisSettings,
  diagnose,
  explain,
  needsSearch,
} from './diagnose/index.ts'
import type { SearchBudget } from './diagnose/signature-searches.ts'
import type { IncomingDeps } from './incoming-calls.ts'

type SentCall = PartnerCall & { readonly host: string | undefined }

export const settingsOf = ({ config, clock }: Deps): DiagnosisSettings => ({
  now: clock.now(),
  skewSeconds: config.MTP_CLOCK_SKEW_S,
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

/** A stand-in partner with the ids that a call names and a random secret. */
function placeholderPartner(call: DiagnosedCall): DiagnosedPartner {
  const { clientId } = readLooseAuthorization(call.authorization ?? '')
  const partnerId = claimedPartnerId(call.partnerId) || '0'
  return { clientId, partnerId, secrets: [randomBytes(32).toString('base64url')], strict: true }
}

/** Mistakes that anybody can make without a secret. */
const WITHOUT_SECRET = RECIPES.filter(({ name }) =>
  ['client-id-as-key', 'partner-id-as-key', 'hmac-missing'].includes(name),
)

/**
 * The diagnosis for a caller that has not proved to hold a secret. It depends on the call alone, so it does not reveal
 * whether a partner has these ids. `busy`: the signature could not be analysed.
 */
export function diagnoseUnverified(call: DiagnosedCall, settings: DiagnosisSettings, busy: boolean): Diagnosis {
  return diagnose(
    call,
    placeholderPartner(call),
    settings,
    (...asked) => explain(...asked, WITHOUT_SECRET) ?? (busy ? 'busy' : null),
  )
}
