import { z } from 'zod'

/** What the addresses and forms of the run's pages hold; anything unusable counts as not given, or as no such run. */

export const runParams = z.object({ run_id: z.uuid() })

export const stepParams = runParams.extend({ step_id: z.string().max(64) })

export const notificationParams = runParams.extend({ notification_id: z.uuid() })

export const runQuery = z
  .object({
    step: z.string().max(64).optional().catch(undefined),
    attempt: z.coerce.number().int().min(1).optional().catch(undefined),
    /** Why a form was refused; see refusals.ts. */
    refused: z.string().optional().catch(undefined),
    /** Somebody has acted at the acceptance check. */
    checked: z.literal('1').optional().catch(undefined),
  })
  .catch({})

const seq = z.coerce.number().int().min(0).max(2_147_483_647)

/** Where a stream of lines goes on: a browser that comes back says so in a header. */
export const streamStart = z.object({
  'last-event-id': seq.optional().catch(undefined),
  after: seq.catch(0),
})
