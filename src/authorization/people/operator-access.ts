import { action } from '../../platform/lib/action.ts'
import { FACTORS, PERSON_SESSIONS, resetPassword, userKey } from '../account/index.ts'
import { previewRevocation } from '../oauth/index.ts'
import { page } from './operator-data.ts'

/** What operators do about how a person gets in. */
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
      columns: ['at', 'outcome', 'method', 'address', 'user_agent'],
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
