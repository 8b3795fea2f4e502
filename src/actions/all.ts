import { APP_EVENT_ACTIONS } from '../app-events/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { JOB_ACTIONS } from '../jobs/index.ts'
import type { Action } from '../lib/action.ts'
import { MEMBER_ACTIONS } from '../members/index.ts'
import { NOTICE_ACTIONS } from '../mtp/index.ts'
import { liveGrantsOf, OAUTH_ACTIONS } from '../oauth/index.ts'
import { heartbeatWith } from '../partner-calls/index.ts'
import { REACH_ACTIONS } from '../partner-reach/index.ts'
import { partnerActions } from '../partners/index.ts'
import { appActions } from '../registry/index.ts'

/** What operators may do, by the section of the console that has it. */
export const ACTIONS = {
  apps: [...appActions(liveGrantsOf), ...OAUTH_ACTIONS.ofApps, ...APP_EVENT_ACTIONS],
  grants: OAUTH_ACTIONS.grants,
  partners: [...partnerActions(heartbeatWith), ...MEMBER_ACTIONS, ...NOTICE_ACTIONS, ...REACH_ACTIONS],
  jobs: JOB_ACTIONS,
} as const satisfies Readonly<Record<string, readonly Action<ServiceDeps>[]>>

export const ALL_ACTIONS: readonly Action<ServiceDeps>[] = Object.values(ACTIONS).flat()
