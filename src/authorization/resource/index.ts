export {
  ACCESS_RETENTION,
  ACCESSES_OF_PERSON,
  type AccessKind,
  readsByDay,
  totalsOfUser,
} from './access-store.ts'
export { accessFilter, listAccesses } from './accesses.ts'
export { RESOURCE_API } from './api.ts'
export { checkRead, describeToken, type LiveToken } from './bearer.ts'
export { RESOURCE_CHECKS } from './check-sequences.ts'
export { RESOURCE_FAILURES, resourceFailure } from './failures.ts'
export { jsTicket } from './wire.ts'
