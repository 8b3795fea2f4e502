import { type Action, partsOf, routesOf } from '../../platform/lib/action.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import { ALL_ACTIONS } from './all.ts'

/** Which role an operation needs: as a route below /admin/v1 and as a command. */
interface Permission {
  readonly role: Role
  /** Method and pattern of the path below /admin/v1. */
  readonly route?: string
  /** Words of the command line. */
  readonly command?: string
}

/** Only on the machine of the service, which has its database: whoever can do that is an admin. */
const COMMANDS_ON_THE_MACHINE = ['migrate', 'purge', 'reseal', 'demo remove', 'shards move-in']
const ON_THE_MACHINE = COMMANDS_ON_THE_MACHINE.map((command): Permission => ({ role: 'admin', command }))

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
export const PERMISSIONS: readonly Permission[] = [...ALL_ACTIONS.flatMap(permissionsOf), ...ON_THE_MACHINE]

/** Method and pattern of a route, as `GET /admin/v1/apps`, to the role that it needs. */
export const ROUTE_ROLES: ReadonlyMap<string, Role> = new Map([
  ...PERMISSIONS.flatMap(({ role, route }) => (route ? [[route.replace(' ', ' /admin/v1'), role] as const] : [])),
  ['GET /metrics', 'viewer'] as const,
])
