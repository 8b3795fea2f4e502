export { type Choice, choice, offers, storedChoice, travelDate } from './choice.ts'
export {
  type Conditions,
  conditions,
  FAULTS,
  faultsUnder,
  MAX_DAYS_AHEAD,
  MAX_WAIT_MINUTES,
  NO_CONDITIONS,
  saidOf,
} from './conditions.ts'
export { FUNCTION_IDS, type FunctionId, OFFERED_FUNCTIONS, REQUIRED_FUNCTIONS } from './functions.ts'
