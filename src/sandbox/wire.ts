import { z } from 'zod'
import { visibleLine } from '../lib/visible.ts'

// Both are pasted, so white space around them is no part of them: as issued they hold none.
export const signInForm = z.object({
  client_id: visibleLine(64),
  client_secret: z
    .string()
    .trim()
    .min(1)
    .max(1024)
    .refine((text) => !text.includes('\0')),
})

/** Where to go on, and whether a session has just ended; anything unusable counts as not given. */
export const goingOn = z
  .object({
    return_to: z.string().optional().catch(undefined),
    ended: z.literal('1').optional().catch(undefined),
  })
  .catch({ return_to: undefined, ended: undefined })
