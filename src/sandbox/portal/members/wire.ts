import { z } from 'zod'
import { repeatedPassword } from '../../../platform/lib/json/input.ts'
import { memberMail, memberRole } from '../../../platform/lib/member.ts'
import { doneQuery } from '../../../platform/lib/web/done-query.ts'
import { memberPassword } from '../../../ticketing/members/index.ts'

/** The forms of the pages about members. */

export const inviteForm = z.object({ mail: memberMail, role: memberRole })
export const roleForm = z.object({ role: memberRole })

export const MEMBER_CHANGES = ['invited', 'role', 'removed'] as const
export const memberChangeQuery = doneQuery(MEMBER_CHANGES)

export const SECRET_CHANGES = ['switched', 'retired'] as const
export const secretChangeQuery = doneQuery(SECRET_CHANGES)

/** Which secret was the newest when the page was opened. */
export const rotateForm = z.object({ replaces: z.string().max(64) }).catch({ replaces: '' })

/** Two passwords that are the same; the first problem is reported. */
export const passwordForm = z.object({ password: memberPassword, password_again: repeatedPassword })
