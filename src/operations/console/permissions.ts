import { allows, type Role } from '../../platform/lib/web/admin-auth.ts'
import { ROUTE_ROLES } from '../actions/index.ts'

/** Each page and form requires the role of an operation: one of the admin API, or one that only the console has. */

export const PERSONAL_DATA = 'unmasked personal data'

/** The role required for an operation such as `POST /apps/:app_key/suspend`; throws for an unknown one. */
export function roleFor(operation: string): Role {
  const needed = operation === PERSONAL_DATA ? 'support' : ROUTE_ROLES.get(operation.replace(' ', ' /admin/v1'))
  if (!needed) throw new Error(`no permission is declared for ${operation}`)
  return needed
}

export const mayDo = (role: Role, operation: string): boolean => allows(role, roleFor(operation))
