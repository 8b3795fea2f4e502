import type { CheckId } from '../checks.ts'
import type { Choice } from '../choice.ts'
import type { Scene } from '../scene.ts'

/**
 * One step of a test run, as data. Adding a step is adding an entry to STEPS, its texts, and the partner's part in the
 * demo.
 */
export interface Step {
  /** Stable kebab-case name: in addresses, reports and JUnit. */
  readonly id: string
  /** Keys of texts: what it is called, and what the person does now. */
  readonly name: string
  readonly todo: string
  /** Whether we call, the partner has to send a notice, or its defences are tried. */
  readonly kind: 'call' | 'notice' | 'defence'
  readonly needs: (choice: Choice) => boolean
  /** What it looks at besides what every answer goes through (examine.ts). */
  readonly checks: readonly CheckId[]
  /** Makes the attempt; it passes when at least one check was made and none of level `error` has failed. */
  readonly perform: (scene: Scene) => Promise<void>
}
