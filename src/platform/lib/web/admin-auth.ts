import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler, preValidationAsyncHookHandler } from 'fastify'
import { z } from 'zod'
import { parseInput } from '../json/input.ts'
import { envelopeErrorHandler } from './envelope.ts'
import { readBodiesExactly } from './exact-body.ts'
import { refuseUnreadableQuery } from './request-target.ts'
import { checkSignedBodies } from './signed-body.ts'

/** What an operator may do; each may do what those before it may. */
export const ROLES = ['viewer', 'support', 'editor', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Whether somebody of this role may do what needs that one. */
export const allows = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** The operator of a request. */
export interface Operator {
  readonly name: string
  readonly role: Role
  /** Whoever runs a command on the machine of the service: `name` is the system's user. */
  readonly kind?: 'cli'
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route parses its query itself and refuses unknown parameters there. */
    readsQuery?: boolean
  }
  interface FastifyInstance {
    /** Admits operators whose role allows the route (src/operations/operators/guard.ts), before the body is read. */
    operatorGate: onRequestAsyncHookHandler
    /** Refuses an operator whose role does not allow this, and records it; for what depends on more than the route. */
    requireRole: (request: FastifyRequest, needed: Role, operation: string) => Promise<void>
    /** Whether a request may be for operators at all: with ADMIN_PORT, whether it came in on that listener. */
    isForOperators: (request: FastifyRequest) => boolean
    /** Throws where what is for operators is asked for under the name of another machine although its token is public. */
    refuseForeignHost: (request: FastifyRequest) => void
  }
  interface FastifyRequest {
    operator: Operator | null
  }
}

/** The operator of a request that has passed the gate. */
export function operatorOf({ operator }: FastifyRequest): Operator {
  if (!operator) throw new Error('the route is not behind the gate of operators')
  return operator
}

/** Whether this operator may see addresses and mails of people; a viewer may not. */
export const seesPeople = (request: FastifyRequest): boolean => allows(operatorOf(request).role, 'support')

/** `l***@example.com` */
export const maskedMail = (mail: string): string => mail.replace(/^(.).*(@[^@]*)$/u, '$1***$2')

const NO_QUERY = z.strictObject({})

/** An unknown filter that is ignored would look as if it had matched: `?status=pending` would show all. */
const refuseStrayQuery: preValidationAsyncHookHandler = async ({ routeOptions, query }) => {
  if (!routeOptions.config.readsQuery) parseInput(NO_QUERY, query)
}

/** Routes for operators only, failures with native status; an empty body is none, unknown parameters are refused. */
export function forOperatorsOnly(app: FastifyInstance): void {
  app.addHook('onRequest', app.operatorGate)
  checkSignedBodies(app)
  app.setErrorHandler(envelopeErrorHandler(true))
  readBodiesExactly(app)
  app.addHook('preValidation', refuseUnreadableQuery)
  app.addHook('preValidation', refuseStrayQuery)
}
