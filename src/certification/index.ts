export { acceptanceOf, checkAcceptance } from './acceptance.ts'
export { startStep, stopStep } from './attempt.ts'
export { eventsOfAttempt, failedChecksOf, findAttempt } from './attempt-store.ts'
export type { Outcome, RunEvent, Waiting } from './event.ts'
export { LogFollowers } from './follow.ts'
export { orderInput } from './order-input.ts'
export { placesInRun } from './places-store.ts'
export {
  type Attempted,
  changeConditions,
  findPresentRun,
  isUntouched,
  lockRun,
  nextStep,
  presentRun,
  type Run,
  showRun,
  startRun,
} from './run.ts'
export { startAll } from './run-all.ts'
export { noSuchRun, REFUSAL_REASONS, RunRefusal } from './run-errors.ts'
export { RunningAttempts } from './running-attempts.ts'
export { findAcceptedRun, listRuns, presentStanding, type Standing, standingOf } from './standing.ts'
export { STEPS } from './steps/index.ts'
