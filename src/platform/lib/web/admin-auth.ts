import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler, preValidationAsyncHookHandler } from 'fastify'
import { z } from 'zod'
import { parseInput } from '../json/input.ts'
import { envelopeErrorHandler } from './envelope.ts'
import { checkSignedBodies, readBodiesExactly } from './operator-body.ts'
import { refuseUnreadableQuery } from './request-target.ts'

/** Roles of operators; each includes those before it. */
export const ROLES = ['viewer', 'support', 'editor', 'admin'] as const
export type Role = (typeof ROLES)[number]

export const allows = (role: Role, needed: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(needed)

/** The operator of a request. */
export interface Operator {
  readonly name: string
  readonly role: Role
  /** A person running a command on the service's machine: `name` is their system user. */
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
    /** Refuses an operator whose role is too low, and records it; for checks that depend on more than the route. */
    requireRole: (request: FastifyRequest, needed: Role, operation: string) => Promise<void>
    /** Whether a request may be for operators at all: with ADMIN_PORT, whether it came in on that listener. */
    isForOperators: (request: FastifyRequest) => boolean
    /** With the public demo token, throws for requests to operators' routes under a host name other than this machine's. */
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

/** Whether this operator may see people's addresses, mails and passports; a viewer may not. */
export const seesPeople = (request: FastifyRequest): boolean => allows(operatorOf(request).role, 'support')

/** `l***@example.com`; of a passport that is no mail address `l***`. */
export const maskedMail = (mail: string): string => mail.replace(/^(.).*?(@[^@]*)?$/su, '$1***$2')

const NO_QUERY = z.strictObject({})

/** A misspelled filter must not be ignored: `?status=pending` would show everything and look as if it had matched. */
const refuseStrayQuery: preValidationAsyncHookHandler = async ({ routeOptions, query }) => {
  if (!routeOptions.config.readsQuery) parseInput(NO_QUERY, query)
}

/** For routes of operators: failures have native status, an empty body counts as none, unknown parameters are refused. */
export function forOperatorsOnly(app: FastifyInstance): void {
  app.addHook('onRequest', app.operatorGate)
  checkSignedBodies(app)
  app.setErrorHandler(envelopeErrorHandler(true))
  readBodiesExactly(app)
  app.addHook('preValidation', refuseUnreadableQuery)
  app.addHook('preValidation', refuseStrayQuery)
}
