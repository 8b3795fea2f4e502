import { z } from 'zod'
import { APP_EVENT_ACTIONS } from '../app-events/index.ts'
import { AUDIT_ACTIONS } from '../audit/index.ts'
import { PRODUCT_ACTIONS } from '../catalogue/index.ts'
import { SETTING_ACTIONS } from '../config/operator.ts'
import { EXPLAIN_ACTIONS } from '../explain/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { JOB_ACTIONS } from '../jobs/index.ts'
import { type Action, action } from '../lib/action.ts'
import { JSON_TYPE } from '../lib/web/envelope.ts'
import { MEMBER_ACTIONS } from '../members/index.ts'
import { NOTICE_ACTIONS } from '../mtp/index.ts'
import { liveGrantsOf, OAUTH_ACTIONS } from '../oauth/index.ts'
import { SIGNING_KEY_ACTIONS } from '../oidc/index.ts'
import { OPERATOR_ACTIONS } from '../operators/index.ts'
import { ORDER_ACTIONS } from '../orders/index.ts'
import { heartbeatWith } from '../partner-calls/index.ts'
import { REACH_ACTIONS } from '../partner-reach/index.ts'
import { partnerActions } from '../partners/index.ts'
import { PEOPLE_ACTIONS } from '../people/index.ts'
import { appActions } from '../registry/index.ts'
import { TRAFFIC_ACTIONS } from '../sandbox/index.ts'
import { operatorsOpenApi } from './openapi.ts'

/** What operators may do, by the section of the console that has it. */
export const ACTIONS = {
  apps: [...appActions(liveGrantsOf), ...OAUTH_ACTIONS.ofApps, ...APP_EVENT_ACTIONS],
  users: PEOPLE_ACTIONS,
  grants: OAUTH_ACTIONS.grants,
  partners: [
    ...partnerActions(heartbeatWith),
    ...PRODUCT_ACTIONS,
    ...MEMBER_ACTIONS,
    ...NOTICE_ACTIONS,
    ...REACH_ACTIONS,
  ],
  orders: ORDER_ACTIONS,
  traffic: TRAFFIC_ACTIONS,
  jobs: JOB_ACTIONS,
  audit: AUDIT_ACTIONS,
  requests: EXPLAIN_ACTIONS,
  operators: OPERATOR_ACTIONS,
  keys: SIGNING_KEY_ACTIONS,
  settings: SETTING_ACTIONS,
} as const satisfies Readonly<Record<string, readonly Action<ServiceDeps>[]>>

/** The description of all, itself among them. */
const DESCRIPTION = action({
  route: 'GET /openapi.json',
  role: 'viewer',
  input: z.strictObject({}),
  run: async ({ config }: ServiceDeps) => config,
  respond: ({ PUBLIC_URL }, t) => ({
    type: JSON_TYPE,
    parts: [JSON.stringify(operatorsOpenApi(ALL_ACTIONS, PUBLIC_URL, t), null, 2)],
  }),
})

export const ALL_ACTIONS: readonly Action<ServiceDeps>[] = [...Object.values(ACTIONS).flat(), DESCRIPTION]

export function actionOf(route: string): Action<ServiceDeps> {
  const found = ALL_ACTIONS.find((action) => action.route === route)
  if (!found) throw new Error(`no operation ${route}`)
  return found
}
