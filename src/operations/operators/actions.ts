import { randomUUID } from 'node:crypto'
import { action } from '../../platform/lib/action.ts'
import {
  createOperator,
  disableOperator,
  enableOperator,
  listOperators,
  newOperatorToken,
  revokeOperatorToken,
  setOperatorRole,
  showOperator,
  tokenToRevoke,
} from './operator.ts'
import { setOperatorPassword } from './sign-in.ts'
import { resetTotp } from './totp.ts'

export const OPERATOR_ACTIONS = [
  action({
    route: 'GET /operators',
    command: 'operator list',
    role: 'admin',
    run: listOperators,
    list: {
      rows: 'operators',
      columns: [
        'name',
        'role',
        'status',
        'has_totp',
        { name: 'tokens', of: ({ tokens }) => tokens.length },
        'created_at',
      ],
    },
  }),
  action({
    route: 'GET /operators/:name',
    command: 'operator show',
    role: 'admin',
    run: showOperator,
    related: ({ name }) => [
      { operation: 'GET /audit', text: 'action.operator_show.did', page: ['/audit', { actor: name }] },
      { operation: 'GET /audit', text: 'console.field.history', page: ['/audit', { target: `operator:${name}` }] },
    ],
  }),
  action({
    route: 'POST /operators',
    command: 'operator create',
    role: 'admin',
    run: createOperator,
    once: ['token'],
  }),
  action({
    route: 'POST /operators/:name/role',
    command: 'operator set-role',
    role: 'admin',
    run: setOperatorRole,
  }),
  action({
    route: 'POST /operators/:name/password',
    command: 'operator set-password',
    role: 'admin',
    run: setOperatorPassword,
  }),
  action({
    route: 'POST /operators/:name/tokens',
    command: 'operator new-token',
    role: 'admin',
    run: newOperatorToken,
    mainFields: ['token_name', 'role', 'days'],
    suggested: () => ({ token_id: randomUUID() }), // a form that is sent twice makes one token
    once: ['token'],
  }),
  action({
    route: 'POST /operators/:name/tokens/revoke',
    command: 'operator revoke-token',
    role: 'admin',
    page: { path: '/operators/:name/tokens/revoke', about: ['name', 'token_id'] },
    run: revokeOperatorToken,
    preview: { run: tokenToRevoke },
  }),
  action({
    route: 'POST /operators/:name/reset-totp',
    command: 'operator reset-totp',
    role: 'admin',
    dangerous: true,
    run: resetTotp,
    offered: ({ has_totp }) => has_totp === true,
  }),
  action({
    route: 'POST /operators/:name/disable',
    command: 'operator disable',
    role: 'admin',
    dangerous: true,
    run: disableOperator,
    offered: ({ status }) => status === 'active',
  }),
  action({
    route: 'POST /operators/:name/enable',
    command: 'operator enable',
    role: 'admin',
    run: enableOperator,
    offered: ({ status }) => status !== 'active',
  }),
]
