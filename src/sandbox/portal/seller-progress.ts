import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { hasPassedSignatureTool } from '../../ticketing/mws/index.ts'
import { findAcceptedRun, findCurrentProgress, type RunProgress } from '../certification/index.ts'

type RunState = NonNullable<OutputOf<typeof findCurrentProgress>>['state']

/**
 * `locked` until the signature tool is passed, `no_run` before the first run, then the state of the current run.
 * Derived only here, so that the pages and the headless API agree.
 */
export type SellerState = 'locked' | 'no_run' | RunState

export interface SellerFacts {
  readonly hasPassedTool: boolean
  readonly present: RunProgress<RunState> | undefined
  readonly accepted: { readonly run_id: string; readonly number: number; readonly passed_at: Date | null } | undefined
}

/** A run proves that the signature is right: otherwise it could not have begun. */
export const isUnlocked = (hasPassedTool: boolean, present: object | undefined): boolean =>
  hasPassedTool || present !== undefined

export type SellerProgress = ReturnType<typeof progressOf>

export function progressOf({ hasPassedTool, present, accepted }: SellerFacts) {
  const passed = accepted?.passed_at ? { ...pick(accepted), passed_at: accepted.passed_at } : null
  const state: SellerState = present?.state ?? (isUnlocked(hasPassedTool, present) ? 'no_run' : 'locked')
  return {
    state,
    /** The current run; null in `locked` and `no_run`. */
    present: present ? { ...pick(present.run), passed: present.passed, steps: present.steps } : null,
    /** The newest accepted run: the integration stays accepted, whatever runs follow. */
    accepted: passed,
    /** The current run began after acceptance, and does not affect it. */
    isLater: present !== undefined && passed !== null && state !== 'accepted',
  }
}

const pick = ({ run_id, number }: { readonly run_id: string; readonly number: number }) => ({ run_id, number })

export async function sellerProgress(deps: Deps, partnerId: bigint): Promise<SellerProgress> {
  const [hasPassedTool, present, accepted] = await Promise.all([
    hasPassedSignatureTool(deps, partnerId),
    findCurrentProgress(deps, partnerId),
    findAcceptedRun(deps, partnerId),
  ])
  return progressOf({ hasPassedTool, present, accepted })
}
