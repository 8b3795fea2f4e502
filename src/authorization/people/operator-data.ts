import { action } from '../../platform/lib/action.ts'
import { JSON_TYPE } from '../../platform/lib/web/envelope.ts'
import { type UserKey, userKey } from '../account/index.ts'
import { accessFilter, listAccesses } from '../resource/index.ts'
import { listDeletionRequests } from './deletion.ts'
import { countErasable, eraseUser } from './erase.ts'
import { exportedUser, exportUser } from './export.ts'

const DAY_MS = 86_400_000

/** An id may hold anything, a slash too, so pages have it in their query. */
export const page = (name: string) => ({ page: { path: `/users/${name}`, about: ['cid', 'user_id'] } }) as const

export const person = ({ cid, user_id }: UserKey): string => `${cid}/${user_id}`

/** What operators do with all that is kept about a person. */
export const DATA_ACTIONS = [
  action({
    route: 'GET /users/deletion-requests',
    command: 'user deletion-requests',
    role: 'support',
    run: listDeletionRequests,
    list: {
      rows: 'requests',
      columns: [
        { name: 'user', of: person },
        'requested_at',
        {
          name: 'waiting_days',
          of: ({ requested_at }, _t, now) => Math.floor((now.getTime() - requested_at.getTime()) / DAY_MS),
        },
        'due_at',
      ],
    },
  }),
  action({
    route: 'GET /users/:cid/:user_id/accesses',
    command: 'user accesses',
    role: 'support',
    ...page('accesses'),
    recordsLook: true,
    input: accessFilter,
    run: listAccesses,
    list: {
      rows: 'accesses',
      columns: [
        'hour',
        'app_key',
        { name: 'what', of: ({ kind }) => kind },
        'reads',
        { name: 'last', of: ({ last_at }) => last_at },
      ],
    },
  }),
  action({
    route: 'GET /users/:cid/:user_id/export',
    command: 'user export',
    role: 'support',
    ...page('export'),
    recordsLook: true,
    input: exportedUser,
    run: exportUser,
    respond: { types: [JSON_TYPE], of: (parts) => ({ name: 'person.json', type: JSON_TYPE, parts }) },
  }),
  action({
    route: 'POST /users/erase',
    command: 'user erase',
    role: 'admin',
    ...page('erase'),
    dangerous: true,
    after: '/users',
    retyped: 'user_id',
    input: userKey,
    run: eraseUser,
    preview: { role: 'admin', run: countErasable },
    once: ['receipt_id', 'erased_at', 'rows', 'stays'],
  }),
]
