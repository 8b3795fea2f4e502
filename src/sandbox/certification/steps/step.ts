import type { CheckId, ExpectedChecks } from '../../checks/index.ts'
import type { FunctionId } from '../../test-plan/index.ts'
import type { StepContext } from '../step-context.ts'

/** To add a step: an entry in STEPS, and its texts `sandbox.step.<id>.name` and `.todo`. */
export interface Step {
  /** Stable kebab-case name, used in URLs, reports, JUnit and stored runs. */
  readonly id: string
  /** We call the partner, it has to send us a notice, or we test its defences. */
  readonly kind: 'call' | 'notice' | 'defence'
  /** Part of runs whose choice has all of these functions. */
  readonly needs: readonly FunctionId[]
  /** The checks it makes besides COMMON_CHECKS, with their levels. */
  readonly expects: ExpectedChecks
  /** Failed checks are warnings, so they never prevent acceptance. */
  readonly advisory?: true
  /** Runs an attempt. It passes if at least one check was made and none of level `error` failed. */
  readonly perform: (context: StepContext<CheckId>) => Promise<void>
}

/** `Given`: fields that the kind of step fills in. */
type StepDefinition<Expects, Given extends keyof Step = never> = Omit<Step, 'expects' | 'perform' | Given> & {
  readonly expects: Expects
  readonly perform: (context: StepContext<Extract<keyof Expects, CheckId>>) => Promise<void>
}

/** `perform` can only make the checks that `expects` lists. */
export const defineStep = <const Expects extends ExpectedChecks>(step: StepDefinition<Expects>): Step => step

/** A step of the function `robustness`, which only warns. */
export const defineRobustnessStep = <const Expects extends ExpectedChecks>(
  step: StepDefinition<Expects, 'needs' | 'advisory'>,
): Step => ({ ...step, needs: ['robustness'], advisory: true })
