export {
  type Choice,
  choice,
  isDayOver,
  offers,
  PRODUCT_ROLES,
  type ProductRole,
  product,
  requireDayAhead,
  storedChoice,
  travelDate,
} from './choice.ts'
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
export {
  FUNCTION_GROUPS,
  FUNCTION_IDS,
  type FunctionId,
  interfacesOf,
  missingKinds,
  OFFERED_FUNCTIONS,
  REQUIRED_FUNCTIONS,
  SYSTEM_FUNCTIONS,
} from './functions.ts'
