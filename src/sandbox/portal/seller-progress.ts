import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { hasPassedSignatureTool } from '../../ticketing/mws/index.ts'
import { findAcceptedRun, findCurrentProgress, type RunProgress } from '../certification/index.ts'

type RunState = NonNullable<OutputOf<typeof findCurrentProgress>>['state']

/**
 * Where a seller stands: `locked` until the signature tool is passed, `no_run` before the first run, then as the run that
 * it is at. Derived here alone; the pages and the headless API say what this says.
 */
export type SellerState = 'locked' | 'no_run' | RunState

export interface SellerFacts {
  readonly hasPassedTool: boolean
  readonly present: RunProgress<RunState> | undefined
  readonly accepted: { readonly run_id: string; readonly number: number; readonly passed_at: Date | null } | undefined
}

/** A run shows that the signature is right: without one it could not have begun. */
export const isUnlocked = (hasPassedTool: boolean, present: object | undefined): boolean =>
  hasPassedTool || present !== undefined

export type SellerProgress = ReturnType<typeof progressOf>

export function progressOf({ hasPassedTool, present, accepted }: SellerFacts) {
  const passed = accepted?.passed_at ? { ...pick(accepted), passed_at: accepted.passed_at } : null
  const state: SellerState = present?.state ?? (isUnlocked(hasPassedTool, present) ? 'no_run' : 'locked')
  return {
    state,
    /** The run that the seller is at; null in `locked` and `no_run`. */
    present: present ? { ...pick(present.run), passed: present.passed, steps: present.steps } : null,
    /** The newest run that was accepted: the integration has passed, whatever run came after it. */
    accepted: passed,
    /** A run that came after acceptance: it changes nothing about that. */
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
