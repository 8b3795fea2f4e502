/** Those who operate the service: roles, tokens, sign-in, and which operation needs which role. */

export { OperatorSignInRefused } from './errors.ts'
export { type ConsoleOperator, endConsoleSession, findConsoleSession, signInFirstOperator } from './first-session.ts'
export { type IsForOperators, registerOperators } from './guard.ts'
export {
  createOperator,
  disableOperator,
  enableOperator,
  listOperators,
  setOperatorRole,
  showOperator,
} from './operator.ts'
export { PERMISSIONS } from './permissions.ts'
export { findOperatorSession } from './session.ts'
export { setOperatorPassword, signInOperator } from './sign-in.ts'
export { isFirstOperator, newOperatorToken, revokeOperatorToken } from './token.ts'
export { OPERATOR_RETENTION } from './token-store.ts'
export { confirmTotp, enrolTotp, OPERATORS_SEALED, resetTotp } from './totp.ts'
