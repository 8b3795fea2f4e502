import type { CheckId, ExpectedChecks } from '../../checks/index.ts'
import type { FunctionId } from '../../test-plan/index.ts'
import type { StepContext } from '../step-context.ts'

/** A step as data. To add one: an entry in STEPS, and its texts `sandbox.step.<id>.name` and `.todo`. */
export interface Step {
  /** Stable kebab-case name: in addresses, reports, JUnit, and in the list of steps that a run keeps. */
  readonly id: string
  /** Whether we call, the partner has to send a notice, or its defences are tried. */
  readonly kind: 'call' | 'notice' | 'defence'
  /** It belongs to runs whose choice has all of these functions; to every run if there are none. */
  readonly needs: readonly FunctionId[]
  /** The checks that it makes besides the common ones (COMMON_CHECKS), and the level of each. */
  readonly expects: ExpectedChecks
  /** Failures in it are warnings, so they never prevent acceptance. */
  readonly advisory?: true
  /** Makes the attempt. It passes when at least one check was made and none of level `error` has failed. */
  readonly perform: (context: StepContext<CheckId>) => Promise<void>
}

/** `Given`: what the kind of step gives itself. */
type StepDefinition<Expects, Given extends keyof Step = never> = Omit<Step, 'expects' | 'perform' | Given> & {
  readonly expects: Expects
  readonly perform: (context: StepContext<Extract<keyof Expects, CheckId>>) => Promise<void>
}

/** A step whose `perform` can only make the checks that it lists. */
export const defineStep = <const Expects extends ExpectedChecks>(step: StepDefinition<Expects>): Step => step

/** A step of the function `robustness`: its failures only warn. */
export const defineRobustnessStep = <const Expects extends ExpectedChecks>(
  step: StepDefinition<Expects, 'needs' | 'advisory'>,
): Step => ({ ...step, needs: ['robustness'], advisory: true })
