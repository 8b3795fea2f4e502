import { CLIENT_ASSERTION_RETENTION } from './client-assertion-store.ts'
import { PUSHED_REQUEST_RETENTION } from './pushed-request-store.ts'
import { SIGNING_KEY_RETENTION } from './signing-key-store.ts'

export { OIDC_API } from './api.ts'
export {
  listSigningKeys,
  retirementInput,
  retireSigningKey,
  rotateSigningKeys,
  rotationInput,
} from './signing-key.ts'
export { OIDC_SEALED, type SigningKey } from './signing-key-store.ts'

/** What the purge deletes of this room's tables. */
export const OIDC_RETENTION = [...SIGNING_KEY_RETENTION, ...PUSHED_REQUEST_RETENTION, ...CLIENT_ASSERTION_RETENTION]
