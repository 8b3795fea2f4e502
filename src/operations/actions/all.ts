import { z } from 'zod'
import { APP_EVENT_ACTIONS } from '../../authorization/app-events/index.ts'
import { liveGrantsOf, OAUTH_ACTIONS } from '../../authorization/oauth/index.ts'
import { SIGNING_KEY_ACTIONS } from '../../authorization/oidc/index.ts'
import { PEOPLE_ACTIONS } from '../../authorization/people/index.ts'
import { appActions } from '../../authorization/registry/index.ts'
import { TEAM_ACTIONS } from '../../authorization/teams/index.ts'
import { AUDIT_ACTIONS } from '../../platform/audit/index.ts'
import { SETTING_ACTIONS } from '../../platform/config/actions.ts'
import { type Action, action, partsOf, routesOf } from '../../platform/lib/action.ts'
import type { Role } from '../../platform/lib/web/admin-auth.ts'
import { JSON_TYPE } from '../../platform/lib/web/envelope.ts'
import { ORDER_TIMELINE, RUN_ACTIONS, TRAFFIC_ACTIONS } from '../../sandbox/portal/index.ts'
import { PRODUCT_ACTIONS } from '../../ticketing/catalogue/index.ts'
import { MEMBER_ACTIONS } from '../../ticketing/members/index.ts'
import { NOTICE_ACTIONS } from '../../ticketing/mtp/index.ts'
import { ORDER_ACTIONS } from '../../ticketing/orders/index.ts'
import { heartbeatWith } from '../../ticketing/partner-calls/index.ts'
import { breakerOf, REACH_ACTIONS } from '../../ticketing/partner-reach/index.ts'
import { partnerActions } from '../../ticketing/partners/index.ts'
import { EXPLAIN_ACTIONS } from '../explain/index.ts'
import { JOB_ACTIONS, type ServiceDeps } from '../jobs/index.ts'
import { OPERATOR_ACTIONS } from '../operators/index.ts'
import { operatorsOpenApi } from './openapi.ts'

/** Everything operators can do, grouped by the console section that offers it. */
export const ACTIONS = {
  apps: [
    ...appActions(liveGrantsOf, TEAM_ACTIONS.ofApps),
    ...OAUTH_ACTIONS.ofApps,
    ...APP_EVENT_ACTIONS,
    ...TEAM_ACTIONS.rows,
  ],
  users: PEOPLE_ACTIONS,
  grants: OAUTH_ACTIONS.grants,
  partners: [
    ...partnerActions(heartbeatWith, breakerOf),
    ...PRODUCT_ACTIONS,
    ...MEMBER_ACTIONS,
    ...NOTICE_ACTIONS,
    ...REACH_ACTIONS,
    ...RUN_ACTIONS,
  ],
  orders: [...ORDER_ACTIONS, ORDER_TIMELINE],
  traffic: TRAFFIC_ACTIONS,
  jobs: JOB_ACTIONS,
  audit: AUDIT_ACTIONS,
  requests: EXPLAIN_ACTIONS,
  operators: OPERATOR_ACTIONS,
  keys: SIGNING_KEY_ACTIONS,
  settings: SETTING_ACTIONS,
} as const satisfies Readonly<Record<string, readonly Action<ServiceDeps>[]>>

/** The OpenAPI document, which also describes this operation. */
const DESCRIPTION = action({
  route: 'GET /openapi.json',
  role: 'viewer',
  input: z.strictObject({}),
  run: async ({ config }: ServiceDeps) => config,
  respond: {
    types: [JSON_TYPE],
    of: ({ PUBLIC_URL }, t) => ({
      type: JSON_TYPE,
      parts: [JSON.stringify(operatorsOpenApi(ALL_ACTIONS, PUBLIC_URL, t), null, 2)],
    }),
  },
})

export const ALL_ACTIONS: readonly Action<ServiceDeps>[] = [...Object.values(ACTIONS).flat(), DESCRIPTION]

export function actionOf(route: string): Action<ServiceDeps> {
  const match = ALL_ACTIONS.find((action) => action.route === route)
  if (!match) throw new Error(`no operation ${route}`)
  return match
}

interface Permission {
  readonly role: Role
  /** Method and pattern of the path below /admin/v1. */
  readonly route?: string
  /** Words of the command line. */
  readonly command?: string
}

/** These need the service's machine and its database; whoever has access to those counts as an admin. */
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

/** The role each operation requires. An operation that is not listed is refused to everybody. */
export const PERMISSIONS: readonly Permission[] = [...ALL_ACTIONS.flatMap(permissionsOf), ...ON_THE_MACHINE]

/** The required role by method and route pattern, such as `GET /admin/v1/apps`. */
export const ROUTE_ROLES: ReadonlyMap<string, Role> = new Map([
  ...PERMISSIONS.flatMap(({ role, route }) => (route ? [[route.replace(' ', ' /admin/v1'), role] as const] : [])),
  ['GET /metrics', 'viewer'] as const,
])
