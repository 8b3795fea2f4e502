import { type Action, partsOf, routesOf } from '../../platform/lib/action.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import { ALL_ACTIONS } from './all.ts'
import { type Permission, WRITTEN } from './written.ts'

const permissionsOf = (action: Action): Permission[] => [
  ...routesOf(action).map(({ route }, index) => ({
    route,
    role: action.role,
    ...(action.command && index === 0 ? { command: action.command } : {}),
  })),
  ...(action.previewRole ? [{ route: `GET ${partsOf(action.route).path}`, role: action.previewRole }] : []),
]

/**
 * Which role every operation needs. A test walks every route and every command with every role. An operation that is not
 * listed is refused to everybody.
 */
export const PERMISSIONS: readonly Permission[] = [...ALL_ACTIONS.flatMap(permissionsOf), ...WRITTEN]

/** Method and pattern of a route, as `GET /admin/v1/apps`, to the role that it needs. */
export const ROUTE_ROLES: ReadonlyMap<string, Role> = new Map([
  ...PERMISSIONS.flatMap(({ role, route }) => (route ? [[route.replace(' ', ' /admin/v1'), role] as const] : [])),
  ['GET /metrics', 'viewer'] as const,
])
