import type { Translate } from '../../lib/web/locale.ts'
import type { MemberRefusal, MemberRole } from '../../members/index.ts'

/** Texts whose keys follow from an id. */
export const memberRefusalText = (reason: MemberRefusal['reason'], t: Translate): string =>
  t(`sandbox.members.refusal.${reason}`)

export const roleName = (role: MemberRole, t: Translate): string => t(`sandbox.members.role.${role}`)
