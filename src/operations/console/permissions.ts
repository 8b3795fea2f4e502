/** Each page and form of the console needs the role of an operation: one of the admin API, or one of its own. */

import { allows, type Role } from '../../platform/lib/web/admin-auth.ts'
import { PERMISSIONS } from '../actions/index.ts'

/** What only the console has. */
export const PERSONAL_DATA = 'unmasked personal data'
const OWN: readonly (readonly [string, Role])[] = [[PERSONAL_DATA, 'support']]

const NEEDED: ReadonlyMap<string, Role> = new Map([
  ...PERMISSIONS.flatMap(({ route, role }) => (route === undefined ? [] : [[route, role] as const])),
  ...OWN,
])

/** The role that `POST /apps/:app_key/suspend` needs; throws for an operation that the table does not have. */
export function roleFor(operation: string): Role {
  const needed = NEEDED.get(operation)
  if (!needed) throw new Error(`no permission is declared for ${operation}`)
  return needed
}

export const mayDo = (role: Role, operation: string): boolean => allows(role, roleFor(operation))
