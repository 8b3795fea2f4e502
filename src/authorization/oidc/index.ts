import { USED_ONCE_RETENTION } from './one-time-store.ts'
import { SIGNING_KEY_RETENTION } from './signing-key-store.ts'

export { OIDC_API } from './api.ts'
export { SIGNING_KEY_ACTIONS } from './operator.ts'
export { openStandardRequests, type StandardRequests } from './requests.ts'
export { listSigningKeys, rotateSigningKeys } from './signing-key.ts'
export { OIDC_SEALED } from './signing-key-store.ts'

/** What the purge deletes of this room's tables. */
export const OIDC_RETENTION = [...SIGNING_KEY_RETENTION, ...USED_ONCE_RETENTION]
