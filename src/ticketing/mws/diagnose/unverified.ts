import { randomBytes } from 'node:crypto'
import { claimedPartnerId } from '../authenticate.ts'
import { readLooseAuthorization } from './authorization.ts'
import { CREDENTIAL_MISTAKES } from './credentials.ts'
import { RECIPES } from './find-mistakes.ts'
import {
  type DiagnosedCall,
  type DiagnosedPartner,
  type Diagnosis,
  type DiagnosisSettings,
  diagnose,
  explain,
} from './index.ts'

/** Mistakes that anybody can make without a secret. */
const WITHOUT_SECRET = RECIPES.filter(({ name }) =>
  ['client-id-as-key', 'partner-id-as-key', 'hmac-missing'].includes(name),
)

/** Whether the signature could not be analysed. */
export const isBusy = ({ mistakes }: Diagnosis): boolean => mistakes.includes(CREDENTIAL_MISTAKES.busy.name)

/** A stand-in partner with the ids that a call names and a random secret. */
export function placeholderPartner(call: DiagnosedCall): DiagnosedPartner {
  const { clientId } = readLooseAuthorization(call.authorization ?? '')
  const partnerId = claimedPartnerId(call.partnerId) || '0'
  return { clientId, partnerId, secrets: [randomBytes(32).toString('base64url')], strict: true }
}

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
