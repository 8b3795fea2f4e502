import { action } from '../../platform/lib/action.ts'
import { listAppEvents } from './events.ts'

/** What an app was told, and whether it arrived. It is sent by src/operations/jobs. */
export const APP_EVENT_ACTIONS = [
  action({
    route: 'GET /apps/:app_key/events',
    command: 'app events',
    role: 'support',
    input: listAppEvents.input,
    run: listAppEvents,
    list: {
      rows: 'events',
      columns: [
        { name: 'event_id' },
        { name: 'type' },
        { name: 'reason' },
        { name: 'state' },
        { name: 'attempts' },
        { name: 'created_at' },
        { name: 'last_error' },
      ],
    },
  }),
]
