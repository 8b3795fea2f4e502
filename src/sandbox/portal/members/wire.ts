import { z } from 'zod'
import { repeatedPassword } from '../../../platform/lib/json/input.ts'
import { memberMail, memberRole } from '../../../platform/lib/member.ts'
import { memberPassword } from '../../../ticketing/members/index.ts'

/** The forms of the pages about members. */

export const inviteForm = z.object({ mail: memberMail, role: memberRole })
export const roleForm = z.object({ role: memberRole })

/** What has just been done, said once on the page that follows. Unusable values count as not given. */
export const MEMBER_CHANGES = ['invited', 'role', 'removed'] as const
export const memberChangeQuery = z
  .object({ done: z.enum(MEMBER_CHANGES).optional().catch(undefined) })
  .catch({ done: undefined })

export const SECRET_CHANGES = ['switched', 'retired'] as const
export const secretChangeQuery = z
  .object({ done: z.enum(SECRET_CHANGES).optional().catch(undefined) })
  .catch({ done: undefined })

/** Which secret was the newest when the page was opened. */
export const rotateForm = z.object({ replaces: z.string().max(64) }).catch({ replaces: '' })

/** Two passwords that are the same; the first problem is reported. */
export const passwordForm = z.object({ password: memberPassword, password_again: repeatedPassword })
