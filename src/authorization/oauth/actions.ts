import type { Deps } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import { endTokensOfApp, oneApp } from '../registry/index.ts'
import { listGrants, previewRevocation, revokeGrantByOperator } from './grant.ts'

const ofApps = [
  action({
    route: 'POST /apps/:app_key/end-tokens',
    command: 'app end-tokens',
    role: 'editor',
    dangerous: true,
    input: oneApp,
    run: (deps: Deps, { app_key }) => endTokensOfApp(deps, app_key),
    preview: { role: 'viewer', run: (deps, { app_key }) => previewRevocation.ofApp(deps, app_key) },
  }),
]

const grants = [
  action({
    route: 'GET /grants',
    command: 'grant list',
    role: 'viewer',
    run: listGrants,
    list: {
      rows: 'grants',
      columns: [
        'grant_id',
        'app_key',
        {
          name: 'user',
          of: ({ cid, user_id }) => `${cid}/${user_id}`,
          page: ({ cid, user_id }) => ['/users/user', { cid, user_id }],
        },
        'scopes',
        'created_at',
        'revoked_at',
      ],
    },
  }),
  action({
    route: 'POST /grants/revoke',
    command: 'grant revoke',
    role: 'support',
    page: { path: '/grants/revoke', about: ['cid', 'user_id', 'grant_id'] },
    dangerous: true,
    run: revokeGrantByOperator,
    offered: ({ revoked_at }) => revoked_at === null,
  }),
]

/** Operators' actions on grants: all of one app, or one by one. */
export const OAUTH_ACTIONS = { ofApps, grants }
