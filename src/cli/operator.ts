import type { Command } from 'commander'
import { z } from 'zod'
import type { OutputOf } from '../lib/json/input.ts'
import { ROLES } from '../lib/web/admin-auth.ts'
import {
  createOperator,
  disableOperator,
  enableOperator,
  listOperators,
  newOperatorToken,
  resetTotp,
  revokeOperatorToken,
  setOperatorPassword,
  setOperatorRole,
  showOperator,
} from '../operators/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { readSecret } from './read-secret.ts'
import { aligned, numberIfOne, readable } from './text.ts'

type ShownOperator = OutputOf<typeof showOperator>

const NAMED = { name: 'name' }
const ROLE = `${ROLES.join(', ')}; each may do what those before it may`

/** `gatehouse operator …`: as over /admin/v1/operators. */
export function operatorCommands(program: Command, context: CliContext): void {
  const operator = program.command('operator').description('those who operate the service, their roles and tokens')
  const create = operator
    .command('create')
    .description('add an operator; shows the first token once')
    .option('--name <name>', 'name shown in the audit log')
    .option('--role <role>', ROLE)
    .option('--days <number>', 'life of the token (default: 90)', numberIfOne)
  defineCommand(create, context, {
    input: createOperator.input,
    inputFrom: ({ name, role, days }) => ({ name, role, days }),
    run: createOperator,
    text: (made) => `${details(made)}\n\n${tokenText(made.token)}`,
  })
  defineCommand(operator.command('list').description('all operators and their tokens'), context, {
    input: z.strictObject({}),
    inputFrom: () => ({}),
    run: async (deps) => ({ operators: await listOperators(deps) }),
    text: ({ operators }) => table(operators),
  })
  const about = (name: string, description: string, run: typeof showOperator) =>
    defineCommand(withKeyArgument(operator, name, description), context, {
      input: run.input,
      inputFrom: (_, called) => ({ name: called }),
      run,
      text: details,
      flags: NAMED,
    })
  about('show', 'one operator', showOperator)
  about('disable', 'refuse their tokens and end their sessions, at once', disableOperator)
  about('enable', 'accept their tokens and sign-in again', enableOperator)
  defineCommand(
    withKeyArgument(operator, 'set-role', 'what they may do from now on').option('--role <role>', ROLE),
    context,
    {
      input: setOperatorRole.input,
      inputFrom: ({ role }, name) => ({ name, role }),
      run: setOperatorRole,
      text: details,
      flags: NAMED,
    },
  )
  tokenCommands(operator, context)
  credentialCommands(operator, context)
}

// In brackets for commander, so that a missing name is reported together with all other problems.
const withKeyArgument = (operator: Command, name: string, description: string): Command =>
  operator.command(name).description(description).argument('[name]').usage('<name> [options]')

function tokenCommands(operator: Command, context: CliContext): void {
  const more = withKeyArgument(operator, 'new-token', 'issue a further token; shown once')
    .option('--token-name <name>', 'what it is for')
    .option('--role <role>', "not above the operator's own (default: the operator's own)")
    .option('--days <number>', 'how long it lasts (default: 90)', numberIfOne)
  defineCommand(more, context, {
    input: newOperatorToken.input,
    inputFrom: ({ tokenName, role, days }, name) => ({ name, token_name: tokenName, role, days }),
    run: newOperatorToken,
    text: ({ token, token_id, expires_at }) =>
      `${aligned([
        ['token_id', token_id],
        ['expires_at', readable(expires_at)],
      ])}\n\n${tokenText(token)}`,
    flags: NAMED,
  })
  const revoke = withKeyArgument(operator, 'revoke-token', 'end a token at once').option('--token-id <id>', 'as listed')
  defineCommand(revoke, context, {
    input: revokeOperatorToken.input,
    inputFrom: ({ tokenId }, name) => ({ name, token_id: tokenId }),
    run: revokeOperatorToken,
    text: ({ token_id }) => `token ${token_id} is revoked`,
    flags: NAMED,
  })
}

function credentialCommands(operator: Command, context: CliContext): void {
  const password = withKeyArgument(
    operator,
    'set-password',
    'set the password to sign in with; typed or piped in',
  ).option(
    '--password-stdin',
    'read the password from standard input instead of asking for it (at least 12 characters)',
  )
  defineCommand(password, context, {
    input: setOperatorPassword.input,
    inputFrom: async ({ passwordStdin }, name) => ({
      name,
      password: await readSecret(context.terminal, {
        field: 'password',
        question: 'Password',
        fromInput: passwordStdin === true,
        twice: true,
      }),
    }),
    run: setOperatorPassword,
    text: ({ name }) => `${name} signs in with this password now; sessions from before are over`,
    flags: NAMED,
  })
  defineCommand(
    withKeyArgument(operator, 'reset-totp', 'remove a lost authenticator app; the next sign-in adds a new one'),
    context,
    {
      input: resetTotp.input,
      inputFrom: (_, name) => ({ name }),
      run: resetTotp,
      text: ({ name }) => `${name} adds a new authenticator at the next sign-in`,
      flags: NAMED,
    },
  )
}

const tokenText = (token: string): string =>
  `token  ${token}\n\nThe token is shown only once. Use it as GATEHOUSE_TOKEN, or as bearer token for /admin/v1.`

const tokenRows = ({ tokens }: ShownOperator): string[][] =>
  tokens.map(({ token_id, name, role, expires_at, last_used_at }) => [
    'token',
    `${token_id}  ${name}, ${role}, ends ${readable(expires_at)}, last used ${readable(last_used_at)}`,
  ])

const details = (operator: ShownOperator): string =>
  aligned([
    ['name', operator.name],
    ['role', operator.role],
    ['status', operator.status],
    ['created_at', readable(operator.created_at)],
    ['has_password', readable(operator.has_password)],
    ['has_totp', readable(operator.has_totp)],
    ...tokenRows(operator),
  ])

function table(operators: readonly ShownOperator[]): string {
  if (operators.length === 0) return 'no operators yet; only ADMIN_TOKEN is accepted'
  const rows = operators.map(({ name, role, status, tokens }) => [name, role, status, String(tokens.length)])
  return aligned([['NAME', 'ROLE', 'STATUS', 'TOKENS'], ...rows])
}
