/** The operators of the service: roles, tokens and sign-in. */

export { OPERATOR_ACTIONS } from './actions.ts'
export { issueCommandToken } from './command-token.ts'
export { RoleNeeded } from './errors.ts'
export { hasAdminToken, type IsForOperators, registerOperators } from './guard.ts'
export {
  createFirstOperator,
  createOperator,
  disableOperator,
  newOperatorToken,
  revokeOperatorToken,
  setOperatorRole,
  showOperator,
} from './operator.ts'
export { type ConsoleOperator, endConsoleSession, findConsoleSession } from './session.ts'
export { setOperatorPassword, signInOperator, signInWithAdminToken } from './sign-in.ts'
export { lastTokenExpiry, OPERATOR_RETENTION } from './store.ts'
export { confirmTotp, enrolTotp, OPERATORS_SEALED, renewRecoveryCodes, resetTotp } from './totp.ts'
export { ADMIN_TOKEN_NAME, typedName } from './wire.ts'
