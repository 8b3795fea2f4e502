import { randomBytes } from 'node:crypto'
import { readLooseAuthorization } from './authorization.ts'
import { CREDENTIAL_MISTAKES } from './credentials.ts'
import {
  type DiagnosedCall,
  type DiagnosedPartner,
  type Diagnosis,
  type DiagnosisSettings,
  diagnose,
  explain,
} from './index.ts'
import { RECIPES } from './search.ts'

/** What somebody can do without any secret. */
const WITHOUT_SECRET = RECIPES.filter(({ name }) =>
  ['client-id-as-key', 'partner-id-as-key', 'hmac-missing'].includes(name),
)

/** Whether a diagnosis could not look into the signature. */
export const isBusy = ({ mistakes }: Diagnosis): boolean => mistakes.includes(CREDENTIAL_MISTAKES.busy.name)

/** Stands for a partner with the ids that a call names, and a secret that nobody holds. */
export function nobodyNamedBy(call: DiagnosedCall): DiagnosedPartner {
  const { clientId } = readLooseAuthorization(call.authorization ?? '')
  const partnerId = /^\d{1,19}$/.test(call.partnerId ?? '') ? String(call.partnerId) : '0'
  return { clientId, partnerId, secrets: [randomBytes(32).toString('base64url')], strict: true }
}

/**
 * What a caller is told who has not proved to hold a secret. It follows from the call alone, and so is the same whether a
 * partner has that clientId or PartnerId, or none. `busy`: it could not be looked into.
 */
export function diagnoseUnproven(call: DiagnosedCall, settings: DiagnosisSettings, busy: boolean): Diagnosis {
  return diagnose(
    call,
    nobodyNamedBy(call),
    settings,
    (...asked) => explain(...asked, WITHOUT_SECRET) ?? (busy ? 'busy' : null),
  )
}
