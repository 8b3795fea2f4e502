import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { DAY_S, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { issueToken, PREFIX } from '../../platform/lib/crypto/opaque-token.ts'
import { InvalidInput, operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { allows, type Role } from '../../platform/lib/web/admin-auth.ts'
import { lastAdmin, nameTaken, noSuchOperator, noSuchToken, roleAboveOperator } from './errors.ts'
import * as store from './store.ts'
import { insertToken, liveTokens, revokeToken } from './store.ts'
import {
  newOperator,
  newToken,
  type OperatorRow,
  oneOperator,
  oneToken,
  operatorFilter,
  roleChange,
  type ShownOperator,
} from './wire.ts'

/** The operator, locked until the end of the transaction. Throws 20007 (404) for an unknown name. */
export async function lockExisting(db: Db, name: string): Promise<OperatorRow> {
  const operator = await store.lockOperator(db, name)
  if (!operator) throw noSuchOperator()
  return operator
}

/**
 * Makes a change that could lock out the last admin. Throws 20007, which rolls it back, if nobody is left who can act
 * as admin: with a password (an authenticator is added at the first sign-in), a valid token or ADMIN_TOKEN. Call it in
 * a transaction before anything else is locked, so that all callers lock in one order and two admins cannot disable
 * each other.
 */
async function refuseWithoutAdmin<Result>(
  { config, clock }: Deps,
  db: Db,
  change: () => Promise<Result>,
): Promise<Result> {
  await store.lockAdmins(db)
  const hasAdmin = async () => config.ADMIN_TOKEN !== undefined || (await store.hasUsableAdmin(db, clock.now()))
  const hadAdmin = await hasAdmin()
  const result = await change()
  if (hadAdmin && !(await hasAdmin())) throw lastAdmin()
  return result
}

interface IssuedToken {
  readonly token_name: string
  readonly role: Role
  readonly days: number
  readonly token_id?: string | undefined
}

/** Runs in the transaction of `deps.db`, and writes to the audit log. The token is shown only once. */
async function issueOperatorToken(
  deps: Deps,
  { operator_id, name }: OperatorRow,
  { token_name, role, days, token_id = randomUUID() }: IssuedToken,
) {
  const { db, keys, clock } = deps
  const now = clock.now()
  const expires_at = wholeSecondsAfter(now, days * DAY_S)
  const token = issueToken(keys, { prefix: PREFIX.operatorToken, routingKey: 0, expiresAt: expires_at })
  const made = { hash: token.hash, token_id, operator_id, name: token_name, role, expires_at }
  if ((await insertToken(db, made, now)) === 0)
    throw new InvalidInput([{ field: 'token_id', problem: localized('already-taken') }])
  const detail = { token_id, token_name, role, expires_at }
  await recordAudit(deps, { event: 'operator_token_made', target: `operator:${name}`, detail })
  return { token: token.text, token_id, expires_at }
}

/** Issues another token for an operator, with the operator's role or a lower one. */
export const newOperatorToken = operation(newToken, (deps: Deps, { name, role, ...rest }) =>
  inTransaction(deps, async (inside, db) => {
    const operator = await lockExisting(db, name)
    if (role && !allows(operator.role, role)) throw roleAboveOperator(operator.role)
    return issueOperatorToken(inside, operator, { ...rest, role: role ?? operator.role })
  }),
)

/** Revokes a token at once, unless it is the last way to act as an admin. */
export const revokeOperatorToken = operation(oneToken, (deps: Deps, { name, token_id }) =>
  inTransaction(deps, (inside, db) =>
    refuseWithoutAdmin(deps, db, async () => {
      const operator = await lockExisting(db, name)
      if ((await revokeToken(db, operator.operator_id, token_id, deps.clock.now())) === 0) throw noSuchToken()
      const target = `operator:${operator.name}`
      await recordAudit(inside, { event: 'operator_token_revoked', target, detail: { token_id } })
      return { token_id }
    }),
  ),
)

async function withValidTokens({ db, clock }: Deps, operators: readonly OperatorRow[]): Promise<ShownOperator[]> {
  const ids = operators.map(({ operator_id }) => operator_id)
  const tokens = await liveTokens(db, ids, clock.now())
  return operators.map(({ operator_id, ...operator }) => ({
    ...operator,
    tokens: tokens.filter((token) => token.operator_id === operator_id).map(({ operator_id: _, ...token }) => token),
  }))
}

export const listOperators = operation(operatorFilter, async (deps: Deps, filter) => {
  const { rows, next } = await store.listOperators(deps.db, filter)
  return { operators: await withValidTokens(deps, rows), next }
})

/** Creates an operator with a first token, which is never shown again. Throws 20007 if the name is taken. */
export const createOperator = operation(newOperator, (deps: Deps, { name, role, days }) =>
  inTransaction(deps, async (inside, db) => {
    const operator_id = randomUUID()
    if ((await store.insertOperator(db, { operator_id, name, role }, deps.clock.now())) === 0) throw nameTaken()
    await recordAudit(inside, { event: 'operator_created', target: `operator:${name}`, detail: { role } })
    const made = await issueOperatorToken(inside, await lockExisting(db, name), { token_name: 'first', role, days })
    return { ...(await showOperator(inside, { name })), ...made }
  }),
)

/** Creates the first operator while no service runs yet; does nothing and returns undefined if there is one already. */
export const createFirstOperator = operation(newOperator, async (deps: Deps, input) =>
  (await store.listOperators(deps.db, { limit: 1 })).rows.length === 0 ? createOperator(deps, input) : undefined,
)

/** Throws 20007 (404) for an unknown name, like all below. */
export const showOperator = operation(oneOperator, async (deps: Deps, { name }): Promise<ShownOperator> => {
  const found = await store.findOperator(deps.db, name)
  const [operator] = await withValidTokens(deps, found ? [found] : [])
  if (!operator) throw noSuchOperator()
  return operator
})

/** What a token is called; null if it is no longer valid. */
export async function tokenToRevoke(deps: Deps, { name, token_id }: z.output<typeof oneToken>) {
  const { tokens } = await showOperator(deps, { name })
  return { token_name: tokens.find((token) => token.token_id === token_id)?.name ?? null }
}

/** `change` returns the state before and after for the audit log, or undefined if nothing changes. */
const changeOperator = (
  deps: Deps,
  name: string,
  event: `operator_${string}`,
  change: (db: Db, operator: OperatorRow) => Promise<object | undefined>,
): Promise<ShownOperator> =>
  inTransaction(deps, (inside, db) =>
    refuseWithoutAdmin(deps, db, async () => {
      const operator = await lockExisting(db, name)
      const detail = await change(db, operator)
      if (detail) await recordAudit(inside, { event, target: `operator:${operator.name}`, detail })
      return showOperator(inside, operator)
    }),
  )

/** Takes effect with the next request, also for tokens issued with a higher role. */
export const setOperatorRole = operation(roleChange, (deps: Deps, { name, role }) =>
  changeOperator(deps, name, 'operator_role_set', async (db, operator) => {
    if (operator.role === role) return undefined
    await store.setRole(db, operator.operator_id, role)
    return { before: { role: operator.role }, after: { role } }
  }),
)

const setStatus = (status: ShownOperator['status'], event: 'operator_disabled' | 'operator_enabled') =>
  operation(oneOperator, (deps: Deps, { name }) =>
    changeOperator(deps, name, event, async (db, operator) => {
      if (operator.status === status) return undefined
      await store.setStatus(db, operator.operator_id, status)
      return { before: { status: operator.status }, after: { status } }
    }),
  )

/** Ends sessions at once; tokens are refused. */
export const disableOperator = setStatus('disabled', 'operator_disabled')

/** Unexpired tokens are accepted again. */
export const enableOperator = setStatus('active', 'operator_enabled')
