import { action } from '../../platform/lib/action.ts'
import { fullDays } from '../../platform/lib/clock.ts'
import { JSON_TYPE } from '../../platform/lib/web/envelope.ts'
import { keyOf } from '../../platform/lib/web/locale.ts'
import { FACTORS, PERSON_SESSIONS, resetPassword, type UserKey, userKey } from '../account/index.ts'
import { previewRevocation } from '../oauth/index.ts'
import { accessFilter, listAccesses } from '../resource/index.ts'
import { listDeletionRequests } from './deletion.ts'
import { countErasable, eraseUser, exportedUser, exportUser } from './person-data.ts'

/** A user id may hold any character, even a slash, so it goes into the query. */
export const page = (name: string) => ({ page: { path: `/users/${name}`, about: ['cid', 'user_id'] } }) as const

export const ACCESS_ACTIONS = [
  action({
    route: 'POST /users/reset-password',
    command: 'user reset-password',
    role: 'editor',
    ...page('reset-password'),
    input: userKey,
    run: resetPassword,
    once: ['url', 'expires_at'],
  }),
  action({
    route: 'GET /users/:cid/:user_id/factors',
    command: 'user factors',
    role: 'viewer',
    ...page('factors'),
    input: userKey,
    run: FACTORS.show,
  }),
  action({
    route: 'POST /users/remove-factors',
    command: 'user remove-factors',
    role: 'editor',
    ...page('remove-factors'),
    dangerous: true,
    run: FACTORS.remove,
  }),
  action({
    route: 'GET /users/:cid/:user_id/sessions',
    command: 'user sessions',
    role: 'support',
    ...page('sessions'),
    recordsLook: true,
    run: PERSON_SESSIONS.list,
    list: {
      rows: 'sessions',
      columns: ['created_at', 'expires_at', 'address', 'user_agent', 'session_id'],
    },
  }),
  action({
    route: 'GET /users/:cid/:user_id/sign-ins',
    command: 'user sign-ins',
    role: 'support',
    ...page('sign-ins'),
    recordsLook: true,
    run: PERSON_SESSIONS.signIns,
    list: {
      rows: 'sign_ins',
      columns: [
        'at',
        'outcome',
        { name: 'method', of: ({ method }) => method, onTerminalOnly: true },
        { name: 'method', of: ({ method }, t) => t(keyOf('console.sign_in_method.', method)), onPagesOnly: true },
        'address',
        'user_agent',
      ],
    },
  }),
  action({
    route: 'POST /users/end-session',
    command: 'user end-session',
    role: 'support',
    page: { path: '/users/end-session', about: ['cid', 'user_id', 'session_id'] },
    run: PERSON_SESSIONS.end,
  }),
  action({
    route: 'POST /users/end-sessions',
    command: 'user end-sessions',
    role: 'support',
    ...page('end-sessions'),
    dangerous: true,
    input: userKey,
    run: PERSON_SESSIONS.endAll,
    preview: { role: 'viewer', run: previewRevocation.ofUser },
  }),
]

export const person = ({ cid, user_id }: UserKey): string => `${cid}/${user_id}`

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
          of: ({ requested_at }, _t, now) => fullDays(requested_at, now),
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
        { name: 'what', of: ({ kind }) => kind, onTerminalOnly: true },
        { name: 'what', of: ({ kind }, t) => t(`console.read.${kind}`), onPagesOnly: true },
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
