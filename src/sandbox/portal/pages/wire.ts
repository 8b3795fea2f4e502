import { z } from 'zod'
import { positiveId } from '../../../platform/lib/json/fields.ts'
import { REFUSAL_REASONS } from '../../certification/index.ts'

/** Parameters of the run's pages. Invalid values are ignored, or reported as no such run. */

export const runParams = z.object({ run_id: z.uuid() })

export const stepParams = runParams.extend({ step_id: z.string().max(64) })

export const notificationParams = runParams.extend({ notification_id: z.uuid() })

export const runQuery = z.object({
  step: z.string().max(64).optional().catch(undefined),
  attempt: z.coerce.number().int().min(1).optional().catch(undefined),
  /** Why the form that redirected here was refused. */
  refused: z.enum(REFUSAL_REASONS).optional().catch(undefined),
  /** The acceptance check was just made. */
  checked: z.literal('1').optional().catch(undefined),
  /** Shows a link that shares this view. */
  share: z.literal('1').optional().catch(undefined),
  /** Shared links were just withdrawn. */
  withdrawn: z.literal('1').optional().catch(undefined),
  /** A run through all steps was started. */
  all: z.literal('1').optional().catch(undefined),
})

export const sharedParams = runParams.extend({ partner_id: positiveId })

export const sharedQuery = z.object({ key: z.string().max(100).catch('') })

const seq = z.coerce.number().int().min(0).max(2_147_483_647)

/** The line after which a stream continues. */
export const streamQuery = z.object({ after: seq.catch(0) })

/** Sent by browsers that reconnect to the stream. */
export const streamHeaders = z.object({ 'last-event-id': seq.optional().catch(undefined) })

/** The history shows the runs before this one. */
export const historyQuery = z.object({ before: seq.optional().catch(undefined) })

/** The buttons of the functions form; no action means to start a run. `replaces`: the run that may be overwritten. */
export const functionsForm = z
  .object({ action: z.string().optional().catch(undefined), replaces: z.string().catch('') })
  .catch({ action: undefined, replaces: '' })
