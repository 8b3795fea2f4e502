import { invalidRequest, RescodeError } from '../../platform/lib/web/rescode.ts'
import type { ContactRole } from '../../ticketing/partners/index.ts'

/** Why a run refuses what it is asked for. Each has a text, `sandbox.refusal.<reason>` in views/locales. */
export const REFUSAL_REASONS = [
  'no_run',
  'run_over',
  'not_current',
  'not_passed',
  'passed',
  'running',
  'signature_first',
  'contacts_missing',
] as const
type RefusalReason = (typeof REFUSAL_REASONS)[number]

/** A person or a program asks for what the run does not allow now. */
export class RunRefusal extends RescodeError {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, what: string) {
    super(20007, { what })
    this.reason = reason
  }
}

/** Also for another partner's run: nobody learns that it exists. */
export const noSuchRun = (): RescodeError => invalidRequest('no such run', { status: 404 })

export const noRunYet = () => new RunRefusal('no_run', 'no test run has been started')

export const runIsOver = () => new RunRefusal('run_over', 'a newer run has replaced this one')

export const notTheCurrentStep = () => new RunRefusal('not_current', 'the run is not at this step')

export const stepNotPassed = () => new RunRefusal('not_passed', 'the current step has not passed yet')

export const passedAlready = () => new RunRefusal('passed', 'the run has passed; start a new one to test again')

export const stepRunning = () => new RunRefusal('running', 'this step is still running')

export const contactsMissing = (roles: readonly ContactRole[]) =>
  new RunRefusal(
    'contacts_missing',
    `acceptance needs a ${roles.join(' and a ')} contact, whom we tell that the run has passed: ` +
      'add it on the page /sandbox/functions#contacts, with POST /sandbox/api/contacts, or with "gatehouse sandbox contacts"',
  )
