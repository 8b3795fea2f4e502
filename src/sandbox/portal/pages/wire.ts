import { z } from 'zod'
import { REFUSAL_REASONS } from '../../certification/index.ts'

/** Addresses and forms of the run's pages. Unusable values count as not given, or as no such run. */

export const runParams = z.object({ run_id: z.uuid() })

export const stepParams = runParams.extend({ step_id: z.string().max(64) })

export const notificationParams = runParams.extend({ notification_id: z.uuid() })

export const runQuery = z
  .object({
    step: z.string().max(64).optional().catch(undefined),
    attempt: z.coerce.number().int().min(1).optional().catch(undefined),
    /** Why the form that led here was refused. */
    refused: z.enum(REFUSAL_REASONS).optional().catch(undefined),
    /** The acceptance check was just made. */
    checked: z.literal('1').optional().catch(undefined),
    /** A link to what is shown was asked for. */
    share: z.literal('1').optional().catch(undefined),
    /** The links to the run were just withdrawn. */
    withdrawn: z.literal('1').optional().catch(undefined),
    /** Every step was asked for. */
    all: z.literal('1').optional().catch(undefined),
  })
  .catch({})

/** Whose run a link opens, and the key that opens it. */
export const sharedParams = runParams.extend({ partner_id: z.string().regex(/^\d{1,19}$/) })

export const sharedQuery = z.object({ key: z.string().max(100).catch('') })

const seq = z.coerce.number().int().min(0).max(2_147_483_647)

/** After which line a stream continues. */
export const streamQuery = z.object({ after: seq.catch(0) }).catch({ after: 0 })

/** Sent by a browser that reconnects to the stream. */
export const streamHeaders = z.object({ 'last-event-id': seq.optional().catch(undefined) })

/** What the form of the functions asks for: to start a run if nothing else; `replaces` is the run that may be replaced. */
export const functionsForm = z
  .object({ action: z.string().optional().catch(undefined), replaces: z.string().catch('') })
  .catch({ action: undefined, replaces: '' })
