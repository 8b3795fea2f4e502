export {
  ACCESS_RETENTION,
  ACCESSES_OF_PERSON,
  type AccessKind,
  readsByDay,
  type TotalReads,
  totalsOfUser,
} from './access-store.ts'
export { accessFilter, listAccesses } from './accesses.ts'
export { RESOURCE_API } from './api.ts'
export { checkRead } from './bearer.ts'
export { describeToken, type LiveToken } from './describe-token.ts'
export { RESOURCE_FAILURES, resourceFailure } from './failures.ts'
export { jsTicket } from './wire.ts'
