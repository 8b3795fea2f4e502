export { OAUTH_API } from './api.ts'
export { readBasic, verifyCredentials } from './authenticate.ts'
export { type AuthorizationRequest, checkPkce } from './authorize.ts'
export { OAUTH_CHECKS } from './check-sequences.ts'
export { decideConsent, issueCode } from './consent.ts'
export { signConsentForm } from './consent-form.ts'
export { rememberedScopes } from './consent-store.ts'
export { deleteGrantsOf } from './demo-store.ts'
export { exchangeCode } from './exchange.ts'
export { OAUTH_FAILURES, oauthFailure } from './failures.ts'
export { listGrants, liveGrantsOf, revokeGrantByOperator } from './grant.ts'
export {
  grantByKey,
  joinedAccessToken,
  LONGEST_REFRESH_S,
  OAUTH_RETENTION,
  revokedAt,
  signInOfGrant,
} from './grant-store.ts'
export { OAUTH_OF_PERSON } from './person-store.ts'
export { withResponseParameters } from './redirect-uri.ts'
export { refreshTokens } from './refresh.ts'
export { previewAppRevocation, previewUserRevocation } from './revocation-preview.ts'
export { describeRefreshToken, revokeToken } from './revoke.ts'
export { TokenCap } from './token-cap.ts'
export { tokensWithPrefix } from './token-store.ts'
export { type IssuedTokens, type Parameters, readParameters, required } from './wire.ts'
