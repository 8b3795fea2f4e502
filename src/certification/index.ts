export { type Acceptance, acceptanceOf, checkAcceptance, type PassedRun } from './acceptance.ts'
export { startStep, stopStep } from './attempt.ts'
export { type AttemptRow, eventsOfAttempt, failedChecksOf, findAttempt } from './attempt-store.ts'
export { type Choice, choice, travelDate } from './choice.ts'
export { type Conditions, conditions, FAULTS, MOST_DAYS_AHEAD, NO_CONDITIONS } from './conditions.ts'
export type { Outcome, RunEvent, Waiting } from './event.ts'
export { LogFollowers } from './follow.ts'
export { FUNCTION_IDS, type FunctionId, OFFERED_FUNCTIONS, REQUIRED_FUNCTIONS } from './functions.ts'
export { orderInput } from './order-input.ts'
export { type LogPlace, placesInRun } from './places-store.ts'
export {
  changeConditions,
  findPresentRun,
  isUntouched,
  listRuns,
  lockRun,
  nextStep,
  type Progress,
  presentRun,
  type Run,
  type RunView,
  showRun,
  startRun,
} from './run.ts'
export { startAll } from './run-all.ts'
export { noSuchRun, REFUSAL_REASONS, type RefusalReason, RunRefusal, signatureFirst } from './run-errors.ts'
export { RunningAttempts } from './running-attempts.ts'
export {
  findAcceptedRun,
  type PresentState,
  presentStanding,
  presentState,
  type RunState,
  runState,
  type Standing,
  standingOf,
  standings,
} from './standing.ts'
export { STEPS } from './steps/index.ts'
