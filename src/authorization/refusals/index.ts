/** The refused requests of area A, stored to be explained. */

export { checkText, type RefusingCheck, refusingCheckOf } from './checks.ts'
export { appsOfTokens, namedApps, openRefusalRecorder, parseTokenPrefix, refusalOf } from './record.ts'
export {
  findRefused,
  REFUSAL_RETENTION,
  REFUSALS_OF_PERSON,
  type RefusedRow,
  refusedAfter,
  refusedOfApp,
  refusedOfUser,
  refusedWithToken,
} from './store.ts'
