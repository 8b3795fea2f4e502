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
    input: FACTORS.remove.input,
    run: FACTORS.remove,
  }),
  action({
    route: 'GET /users/:cid/:user_id/sessions',
    command: 'user sessions',
    role: 'support',
    ...page('sessions'),
    recordsLook: true,
    input: PERSON_SESSIONS.list.input,
    run: PERSON_SESSIONS.list,
    list: {
      rows: 'sessions',
      columns: [
        { name: 'created_at' },
        { name: 'expires_at' },
        { name: 'address' },
        { name: 'user_agent' },
        { name: 'session_id' },
      ],
    },
  }),
  action({
    route: 'GET /users/:cid/:user_id/sign-ins',
    command: 'user sign-ins',
    role: 'support',
    ...page('sign-ins'),
    recordsLook: true,
    input: PERSON_SESSIONS.signIns.input,
    run: PERSON_SESSIONS.signIns,
    list: {
      rows: 'sign_ins',
      columns: [{ name: 'at' }, { name: 'outcome' }, { name: 'method' }, { name: 'address' }, { name: 'user_agent' }],
    },
  }),
  action({
    route: 'POST /users/end-session',
    command: 'user end-session',
    role: 'support',
    page: { path: '/users/end-session', about: ['cid', 'user_id', 'session_id'] },
    input: PERSON_SESSIONS.end.input,
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
