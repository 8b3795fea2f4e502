import { invalidRequest, RescodeError } from '../lib/web/rescode.ts'

/** A person or a program asks for what the run does not allow now; `text` is a key of the pages' texts. */
export class SandboxRefusal extends RescodeError {
  readonly text: string

  constructor(text: string, what: string) {
    super(20007, { what })
    this.text = text
  }
}

/** Also for another partner's run: nobody learns that it exists. */
export const noSuchRun = (): RescodeError => invalidRequest('no such run', { status: 404 })

export const noRunYet = () => new SandboxRefusal('sandbox.refusal.no_run', 'no test run has been started')

export const runIsOver = () =>
  new SandboxRefusal('sandbox.refusal.run_over', 'a newer run has taken the place of this one')

export const notTheCurrentStep = () =>
  new SandboxRefusal('sandbox.refusal.not_current', 'this is not the step where the run stands')

export const stepNotPassed = () =>
  new SandboxRefusal('sandbox.refusal.not_passed', 'the current step has not passed yet')

export const passedAlready = () =>
  new SandboxRefusal('sandbox.refusal.passed', 'the run has passed; start a new one to test again')

export const stepRunning = () => new SandboxRefusal('sandbox.refusal.running', 'the current step is being made')

export const signatureFirst = () =>
  new SandboxRefusal('sandbox.refusal.signature_first', 'the signature tool has to be passed before the test run')

/** Why a partner was not let into the sandbox. `wrong` is said of unknown clientIds and wrong secrets alike. */
export type SignInProblem = 'wrong' | 'limited' | 'suspended'

/** The sign-in was not accepted; `retryAt` when there were too many failures before it. */
export class PartnerSignInRefused extends Error {
  override readonly name = 'PartnerSignInRefused'
  readonly problem: SignInProblem
  readonly retryAt: Date | undefined

  constructor(problem: SignInProblem, retryAt?: Date) {
    super(`sandbox sign-in refused: ${problem}`)
    this.problem = problem
    this.retryAt = retryAt
  }
}

/** One answer for what does not exist and what is another partner's. */
export const noSuchEntry = (): RescodeError => invalidRequest('no such call', { status: 404 })

/** This call is not made once more; `obstacle` is why. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable'
  readonly obstacle: 'changes' | 'not-a-notice' | 'not-verified' | 'not-whole'

  constructor(obstacle: NotReplayable['obstacle']) {
    super(`not replayable: ${obstacle}`)
    this.obstacle = obstacle
  }
}

export const notReplayable = (obstacle: NotReplayable['obstacle']): NotReplayable => new NotReplayable(obstacle)
