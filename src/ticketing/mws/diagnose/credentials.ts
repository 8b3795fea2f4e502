import type { SigningMistake } from './recipe.ts'

/** Mistakes in the caller's ids and Content-Type, and reasons why a signature cannot be analysed. */
export const CREDENTIAL_MISTAKES = {
  headerDoubled: {
    name: 'header-doubled',
    explanation: 'Authorization, Date or PartnerId was sent more than once; send each exactly once.',
  },
  clientIdUnknown: {
    name: 'client-id-unknown',
    explanation: 'No partner has this clientId.',
  },
  partnerIdForClientId: {
    name: 'partner-id-instead-of-client-id',
    explanation: 'The Authorization header has the PartnerId in place of the clientId.',
  },
  partnerIdMissing: {
    name: 'partner-id-missing',
    explanation: 'The PartnerId header is missing; every call carries PartnerId, Date and Authorization.',
  },
  partnerIdMismatch: {
    name: 'partner-id-mismatch',
    explanation: 'The PartnerId header does not belong to this clientId.',
  },
  contentType: {
    name: 'content-type-not-json',
    explanation: 'The Content-Type is not application/json; charset=utf-8: a notice with it is refused.',
  },
  suspended: {
    name: 'partner-suspended',
    explanation:
      'The call is correct, but the partner is suspended: none of its calls are accepted until it is active again.',
  },
  unrecognised: {
    name: 'signature-unrecognised',
    explanation:
      'The signature matches no known mistake, alone or combined. Check first that clientId and clientSecret are the ones that were issued together.',
  },
  busy: {
    name: 'diagnosis-busy',
    explanation:
      'The signature does not match. Too many calls are being analysed to say why; try again in a minute, or paste the call into the signature tool in the sandbox.',
  },
} as const satisfies Record<string, SigningMistake>
