/** Partners: who they are, their URLs, contacts and secrets. */

export { partnerActions } from './actions.ts'
export { setAesKey } from './aes-key.ts'
export { setContact, webhookSecret } from './contact.ts'
export { PARTNERS_SEALED } from './contact-store.ts'
export {
  createPartner,
  findPartner,
  findPartnerByClientId,
  interfaceUrl,
  notePartnerSecretUse,
  type PartnerWithSecrets,
  secretTexts,
  showPartner,
  updatePartner,
} from './partner.ts'
export { retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './secret.ts'
export { DEMO_PARTNERS, lockPartner, partnersById } from './store.ts'
export { CONTACT_ROLES, type ContactRole, type OnePartner, onePartner, type PartnerStage } from './wire.ts'
