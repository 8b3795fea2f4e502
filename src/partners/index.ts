/** Partners: who they are, their URLs, contacts and secrets. */

export { makeAesKey, removeAesKey, setAesKey } from './aes-key.ts'
export { rotateWebhookSecret, setContact, webhookSecret } from './contact.ts'
export { PARTNERS_SEALED } from './contact-store.ts'
export { DEMO_PARTNERS } from './demo-store.ts'
export { PARTNER_FIELDS } from './fields.ts'
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
export { retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './secret.ts'
export { checkSecretKey } from './secret-key.ts'
export { urlWarnings } from './url-warnings.ts'
export { CONTACT_ROLES, type ContactRole, type PartnerStage } from './wire.ts'
