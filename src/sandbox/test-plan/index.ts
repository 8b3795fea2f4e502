export { type Choice, choice, offers, storedChoice, travelDate } from './choice.ts'
export {
  type Conditions,
  callFaultsFor,
  conditionLogLines,
  conditions,
  FAULTS,
  MAX_DAYS_AHEAD,
  MAX_WAIT_MINUTES,
  NO_CONDITIONS,
} from './conditions.ts'
export { FUNCTION_IDS, type FunctionId, OFFERED_FUNCTIONS, REQUIRED_FUNCTIONS } from './functions.ts'
