import type { Deps } from '../deps.ts'
import { endAttempt, findDeserted, findOpenAttempt } from './attempt-store.ts'

/** Ends a run's attempt whose process has died: whoever looks at the run next does it. */
export async function endDeserted({ db, clock }: Deps, runId: string): Promise<void> {
  const deserted = await findDeserted(db, runId, clock.now())
  if (deserted) await endAttempt(db, deserted.attempt_id, 'interrupted', clock.now())
}

/** Ends a run's attempt although it is being made; whoever makes it notices by its next line. */
export async function endOpenAttempt({ db, clock }: Deps, runId: string): Promise<void> {
  const open = await findOpenAttempt(db, runId)
  if (open) await endAttempt(db, open.attempt_id, 'interrupted', clock.now())
}
