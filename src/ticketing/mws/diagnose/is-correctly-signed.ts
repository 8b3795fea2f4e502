import { verify } from '../authenticate.ts'
import { readLooseAuthorization } from './authorization.ts'
import type { DiagnosedCall, DiagnosedPartner, DiagnosisSettings } from './diagnosed.ts'

/** As the verifier says: with one of the live secrets, over one of the paths that may be signed. */
export const isCorrectlySigned = (
  { authorization = '', date = '', ...call }: DiagnosedCall,
  { clientId, secrets }: DiagnosedPartner,
  prefixes?: readonly string[],
): boolean => verify({ ...call, authorization, date }, clientId, secrets, prefixes) !== null

/** Whether a diagnosis of this call has to look for mistakes in its signature. */
export const needsSearch = (
  call: DiagnosedCall,
  partner: DiagnosedPartner,
  { prefixes }: Pick<DiagnosisSettings, 'prefixes'>,
): boolean =>
  (call.date ?? '') !== '' &&
  readLooseAuthorization(call.authorization ?? '').signature !== '' &&
  !isCorrectlySigned(call, partner, prefixes)
