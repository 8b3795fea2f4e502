/** Micro-apps: their hosts and URLs, scopes and secrets. */

export { appActions, oneApp } from './actions.ts'
export { hostMatches } from './host.ts'
export {
  createMicroApp,
  endTokensOfApp,
  listMicroApps,
  putLive,
  rotateAppWebhookSecret,
  showMicroApp,
  updateMicroApp,
} from './micro-app.ts'
export { hasResponseParameters, MICRO_APP_FIELDS, TEAM_FIELDS } from './micro-app-fields.ts'
export { hasSecret, publicKey, TOKEN_AUTH_METHODS } from './oidc-fields.ts'
export {
  findAppWithFailures,
  findMicroAppForAuthentication,
  noteSecretUse,
  rotateSecret,
  type UsedSecret,
} from './secret.ts'
export { type LiveSecret, secretsOfOldKeys, takeEndingSecrets } from './secret-store.ts'
export { DEMO_APPS, existingAppKeys, findOrigins, joinedMicroApp, lockMicroApp, REGISTRY_SEALED } from './store.ts'
export { findWebhookOfApp, presentWebhookSecrets, type WebhookOfApp } from './webhook.ts'
export { type CallingApp, type MicroApp, mayUse } from './wire.ts'
