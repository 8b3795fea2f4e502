/** Partners: who they are, their URLs, contacts and secrets. */

export { setAesKey } from './aes-key.ts'
export { setContact, webhookSecret } from './contact.ts'
export { PARTNERS_SEALED } from './contact-store.ts'
export { DEMO_PARTNERS } from './demo-store.ts'
export { partnerActions } from './operator.ts'
export {
  createPartner,
  findPartner,
  findPartnerByClientId,
  interfaceUrl,
  lockPartner,
  notePartnerSecretUse,
  type PartnerWithSecrets,
  partnersById,
  secretTexts,
  showPartner,
  updatePartner,
} from './partner.ts'
export { retireSecret, rotatePartnerSecret, switchSigning, type TestCallWith } from './secret.ts'
export { CONTACT_ROLES, type ContactRole, onePartner, type PartnerStage } from './wire.ts'
