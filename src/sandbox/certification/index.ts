export { acceptanceOf, checkAcceptance } from './acceptance.ts'
export { type RunRef, startStep, stopStep } from './attempt.ts'
export { eventsOfAttempt, failedChecksOf, findAttempt, logReferences } from './attempt-store.ts'
export type { RunEvent, Waiting } from './event.ts'
export { LogFollowers } from './log-followers.ts'
export { orderInput } from './order-input.ts'
export {
  changeConditions,
  chosenFunctions,
  currentRun,
  findCurrentRun,
  isFreshRunOf,
  isUntouched,
  lockRun,
  nextStep,
  type Run,
  requireRun,
  showRun,
  startRun,
} from './run.ts'
export { startAll } from './run-all.ts'
export { noSuchRun, REFUSAL_REASONS, RunRefusal } from './run-errors.ts'
export { findAcceptedRun, findCurrentProgress, listRuns, progressOfRun, type RunProgress } from './run-progress.ts'
export type { RunDeps } from './running-attempts.ts'
export { RunningAttempts } from './running-attempts.ts'
