import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { DEMO_ADMIN_TOKEN } from '../../platform/config/problems.ts'
import { withShareOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { allows, type Operator, operatorOf, type Role } from '../../platform/lib/web/admin-auth.ts'
import { cameByProxy, normalAddress } from '../../platform/lib/web/caller-address.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { noSuchPath, tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost, namesThisMachine } from '../../platform/lib/web/web-url.ts'
import { limitPages, mayRecordFailure, networkOf } from '../../platform/throttle/index.ts'
import { readCommandToken } from './command-token.ts'
import { foreignHost, RoleNeeded, wrongBearer } from './errors.ts'
import { TOUCH_EVERY_S } from './session.ts'
import { findToken, touchToken } from './store.ts'
import { ADMIN_TOKEN_NAME } from './wire.ts'

const MINUTE_S = 60
/** Wrong tokens per network and minute before it has to wait; a valid token is accepted even then. */
const FAILURES = { kind: 'operator token refused', most: 30, windowS: MINUTE_S } as const
/** Audit rows per minute about refusals of one operator. */
const ROWS_OF_OPERATOR = { kind: 'operator refusal recorded', most: 300, windowS: MINUTE_S } as const

export type IsForOperators = FastifyInstance['isForOperators']

/** Decorates the app with the operators' gate; called once, before the rooms. `roles` are by method and pattern. */
export function registerOperators(
  app: FastifyInstance,
  given: Deps,
  isForOperators: IsForOperators,
  roles: ReadonlyMap<string, Role>,
): void {
  const deps = withShareOf(given, 'operators')
  app.decorateRequest('operator', null)
  app.decorateRequest('signedBody', null)
  app.decorateRequest('bodyHash', null)
  app.decorate('isForOperators', isForOperators)
  app.decorate('refuseForeignHost', refuseForeignHost(deps.config))
  const limit = limitPages(app, deps.config)
  app.decorate('operatorGate', async (request: FastifyRequest, reply: FastifyReply) => {
    if (!isForOperators(request)) {
      await limit.call(app, request, reply)
      throw noSuchPath()
    }
    app.refuseForeignHost(request)
    const bearer = bearerOf(request.headers.authorization)
    const operator =
      bearer === undefined ? undefined : (ofCommand(deps, request, bearer) ?? (await findOperator(deps, bearer)))
    if (!operator) throw await refuseBearer(deps, request, bearer !== undefined)
    request.operator = operator
    noteForLog(request, { operator: operator.kind ? `${operator.name} (${operator.kind})` : operator.name })
    const { url } = request.routeOptions
    if (url === undefined) return // the 404 handler answers
    const operation = `${request.method} ${url}`
    await requireRole(deps, request, roles.get(operation), operation)
  })
  app.decorate('requireRole', (request: FastifyRequest, needed: Role, operation: string) =>
    requireRole(deps, request, needed, operation),
  )
}

/** The bearer token of an Authorization header, if it has one. */
const bearerOf = (authorization = ''): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1]

const isAdminToken = ({ ADMIN_TOKEN }: Pick<Config, 'ADMIN_TOKEN'>, bearer: string | undefined): boolean =>
  bearer !== undefined && ADMIN_TOKEN !== undefined && equalSecrets(bearer, ADMIN_TOKEN)

/** Whether an Authorization header carries ADMIN_TOKEN; needs no database. */
export const hasAdminToken = (config: Pick<Config, 'ADMIN_TOKEN'>, authorization: string | undefined): boolean =>
  isAdminToken(config, bearerOf(authorization))

/** The operator of a bearer token, which may also be ADMIN_TOKEN. A forged token costs no statement. */
async function findOperator({ config, db, keys, clock }: Deps, bearer: string): Promise<Operator | undefined> {
  if (isAdminToken(config, bearer)) return { name: ADMIN_TOKEN_NAME, role: 'admin' }
  const now = clock.now()
  const token = parseToken(keys, PREFIX.operatorToken, bearer)
  if (!token || token.expiresAt <= now) return undefined
  const held = await findToken(db, token.hash, now)
  if (!held) return undefined
  const { name, operatorRole, tokenRole, lastUsedAt } = held
  const stale = addSeconds(now, -TOUCH_EVERY_S)
  if (lastUsedAt === null || lastUsedAt < stale) await touchToken(db, token.hash, now, stale)
  return { name, role: allows(operatorRole, tokenRole) ? tokenRole : operatorRole } // the lower one
}

/** Whether both ends of the connection are on this machine, and it is no proxy that speaks for others. */
function isOfThisMachine({ raw, headers }: Pick<FastifyRequest, 'raw' | 'headers'>): boolean {
  const { remoteAddress = '', localAddress } = raw.socket
  const isHere =
    remoteAddress !== '' && (isLoopbackHost(normalAddress(remoteAddress) ?? '') || remoteAddress === localAddress)
  return isHere && !cameByProxy({ headers })
}

function ofCommand({ keys, clock }: Deps, request: FastifyRequest, bearer: string): Operator | undefined {
  const { method, url: target } = request
  const command = isOfThisMachine(request) ? readCommandToken(keys, bearer, { method, target }, clock.now()) : undefined
  if (!command) return undefined
  request.signedBody = command.body
  return { name: command.user, role: 'admin', kind: 'cli' }
}

/**
 * The ADMIN_TOKEN of the demo is in the README. The demo listens on this machine only, but a foreign page in a browser
 * here could use the token through a host name that resolves to this machine (DNS rebinding).
 */
const refuseForeignHost =
  ({ ADMIN_TOKEN }: Config) =>
  ({ headers }: FastifyRequest): void => {
    if (ADMIN_TOKEN === DEMO_ADMIN_TOKEN && !namesThisMachine(headers.host)) throw foreignHost()
  }

/** Routes without a declared role are refused to everybody. */
async function requireRole(deps: Deps, request: FastifyRequest, needed: Role | undefined, operation: string) {
  const { name, role } = operatorOf(request)
  if (needed !== undefined && allows(role, needed)) return
  if (!deps.rateLimiter.count(ROWS_OF_OPERATOR, name).exceeded) {
    await recordAudit(deps, {
      event: 'operator_refused',
      actor: actorOf(request, request.operator?.kind ?? 'operator', name),
      target: operation,
      outcome: 'refused',
      detail: { role, needed: needed ?? null },
    })
  }
  const line = { level: 'warn', kind: `operator refused ${operation}`, message: 'an operator was refused' } as const
  const fields = () => ({ operator: name, role, needed, route: operation })
  request.server.sampledLog.write({ ...line, fields }, request.log)
  throw new RoleNeeded(operation, needed ?? 'admin', role)
}

/** A request without a token is refused, but not counted as an attempt to sign in. */
async function refuseBearer(deps: Deps, request: FastifyRequest, tried: boolean): Promise<Error> {
  const wrong = wrongBearer(deps.config.ADMIN_TOKEN !== undefined)
  if (!tried) return wrong
  const { exceeded, endsInMs } = deps.rateLimiter.count(FAILURES, networkOf(request.ip))
  request.server.sampledLog.write(
    {
      level: 'warn',
      kind: 'operator sign-in refused',
      message: 'a wrong operator token was refused',
      fields: () => ({ address: request.ip, route: request.routeOptions.url }),
    },
    request.log,
  )
  if (mayRecordFailure(deps, 'operator', request.ip)) {
    await recordAudit(deps, {
      event: exceeded ? 'operator_sign_in_locked' : 'operator_sign_in_failed',
      actor: actorOf(request, 'operator'),
      outcome: 'refused',
      detail: { by: 'token' },
    })
  }
  return exceeded ? tooManyRequests(Math.ceil(endsInMs / 1000)) : wrong
}
