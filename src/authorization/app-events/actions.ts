import type { Deps } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import { oneApp } from '../registry/index.ts'
import { listAppEvents, retryAppEvent, testWebhook } from './events.ts'

/** Operators' actions on the events of apps, which src/operations/jobs sends. */
export const APP_EVENT_ACTIONS = [
  action({
    route: 'GET /apps/:app_key/events',
    command: 'app events',
    role: 'support',
    run: listAppEvents,
    list: {
      rows: 'events',
      columns: ['event_id', 'type', 'reason', 'state', 'attempts', 'last_status', 'created_at', 'last_error'],
    },
  }),
  action({
    route: 'POST /apps/:app_key/events/:event_id/retry',
    command: 'app retry-event',
    arguments: ['app_key', 'event_id'],
    role: 'editor',
    run: retryAppEvent,
  }),
  action({
    route: 'POST /apps/:app_key/test-webhook',
    command: 'app test-webhook',
    role: 'editor',
    input: oneApp,
    run: (deps: Deps, { app_key }) => testWebhook(deps, app_key),
    offered: ({ webhook_url }) => webhook_url !== null,
  }),
]
