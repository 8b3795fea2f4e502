import { APP_EVENT_ACTIONS } from '../app-events/index.ts'
import { PRODUCT_ACTIONS } from '../catalogue/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { JOB_ACTIONS } from '../jobs/index.ts'
import type { Action } from '../lib/action.ts'
import { MEMBER_ACTIONS } from '../members/index.ts'
import { NOTICE_ACTIONS } from '../mtp/index.ts'
import { liveGrantsOf, OAUTH_ACTIONS } from '../oauth/index.ts'
import { OPERATOR_ACTIONS } from '../operators/index.ts'
import { ORDER_ACTIONS } from '../orders/index.ts'
import { heartbeatWith } from '../partner-calls/index.ts'
import { REACH_ACTIONS } from '../partner-reach/index.ts'
import { partnerActions } from '../partners/index.ts'
import { PEOPLE_ACTIONS } from '../people/index.ts'
import { appActions } from '../registry/index.ts'
import { TRAFFIC_ACTIONS } from '../sandbox/index.ts'

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
  operators: OPERATOR_ACTIONS,
} as const satisfies Readonly<Record<string, readonly Action<ServiceDeps>[]>>

export const ALL_ACTIONS: readonly Action<ServiceDeps>[] = Object.values(ACTIONS).flat()
