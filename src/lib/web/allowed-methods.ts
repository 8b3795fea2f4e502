import type { FastifyInstance } from 'fastify'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The methods that a path has a route for; none for a path that does not exist. */
// hasRoute reads a path as a pattern, and throws on `:a(` or `*a/b`; no path of ours holds these.
export const allowedMethods = (app: FastifyInstance, path: string): string[] =>
  /[:*]/.test(path) ? [] : METHODS.filter((method) => app.hasRoute({ method, url: path }))
