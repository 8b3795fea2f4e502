export { makeAesKey, removeAesKey, setAesKey } from './aes-key.ts'
export {
  type DemoRow,
  deleteDemoApps,
  deleteDemoPartners,
  demoAppKeys,
  demoPartnerIds,
  demoSchema,
  disableDemoPartners,
  findActiveDemoParties,
  findActiveDemoPartiesByName,
  hasAppWithoutPartners,
  hasMicroApps,
  markDemoApps,
  markDemoPartner,
} from './demo-store.ts'
export type { Field, Fields } from './field.ts'
export { hostMatches } from './host.ts'
export {
  approveMicroApp,
  createMicroApp,
  listMicroApps,
  listOrigins,
  showMicroApp,
  suspendMicroApp,
  updateMicroApp,
} from './micro-app.ts'
export { holdsAnswer, MICRO_APP_FIELDS, SCOPES } from './micro-app-fields.ts'
export {
  activatePartner,
  createPartner,
  findPartner,
  findPartnerByClientId,
  interfaceUrl,
  listPartners,
  lockPartner,
  notePartnerSecretUse,
  type PartnerWithSecrets,
  secretTexts,
  setStage,
  showPartner,
  suspendPartner,
  updatePartner,
} from './partner.ts'
export { rotateWebhookSecret, setContact, webhookSecret } from './partner-contact.ts'
export { PARTNER_FIELDS, partnerId } from './partner-fields.ts'
export { noTestCall, retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './partner-secret.ts'
export { urlWarnings } from './partner-url-warnings.ts'
export {
  aesKeyInput,
  CONTACT_ROLES,
  type ContactRole,
  contact,
  newPartner,
  type Partner,
  type PartnerChanges,
  type PartnerSecretDates,
  partnerChanges,
  type ShownPartner,
  stageChange,
} from './partner-wire.ts'
export { findAppWithFailures, findMicroAppForAuthentication, noteSecretUse, rotateSecret } from './secret.ts'
export { checkSecretKey } from './secret-key.ts'
export { TOKEN_AUTH_METHODS } from './standard-fields.ts'
export { joinedMicroApp } from './store.ts'
export { type MicroApp, microAppChanges, newMicroApp, rotation, type SecretDates } from './wire.ts'
