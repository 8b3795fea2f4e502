export { deleteGrantsOf } from './demo-store.ts'
export { listGrants, withdrawGrant } from './grant.ts'
export { type Grant, grantByKey, joinedAccessToken, OAUTH_RETENTION } from './grant-store.ts'
export { grantReference, type Parameters, readParameters, required, type Scope, userReference } from './wire.ts'
