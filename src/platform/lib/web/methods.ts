import type { FastifyInstance, FastifyRequest } from 'fastify'
import { decodedPath, pathAsSent } from './request-target.ts'
import { methodNotAllowed, noSuchPath, type RescodeError } from './rescode.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for a GET that issues, spends or records something, or whose answer never ends: HEAD is not allowed there. */
    answersHead?: false
  }
  interface FastifyInstance {
    /** The methods for which a path has a route; none for an unknown path. */
    allowedMethods: (url: string) => string[]
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const partsOf = (path: string): string[] => path.split('/').map(decodedPath)

/** Matches `/runs/:run_id` and `/assets/*` as the router does. */
function matches(parts: readonly string[], path: readonly string[]): boolean {
  const open = parts.at(-1) === '*'
  if (open ? path.length < parts.length : path.length !== parts.length) return false
  return parts.every(
    (part, place) => part === '*' || (part.startsWith(':') ? path[place] !== '' : part === path[place]),
  )
}

/** Records the app's routes; call once, before any is registered. */
export function collectRoutes(app: FastifyInstance): void {
  const routes: { readonly parts: readonly string[]; readonly methods: ReadonlySet<string> }[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    const methods = new Set([method].flat())
    if (methods.has('GET') && config?.answersHead !== false) methods.add('HEAD')
    routes.push({ parts: partsOf(url), methods })
  })
  app.decorate('allowedMethods', (url) => {
    const path = partsOf(pathAsSent(url))
    const matching = routes.filter(({ parts }) => matches(parts, path))
    return METHODS.filter((method) => matching.some(({ methods }) => methods.has(method)))
  })
}

/**
 * For Fastify's `rewriteUrl`, called before routing: turns HEAD into GET where GET is answered, so that the headers are
 * the same. Node still sends no body, since it has already seen the method.
 */
export function headAsGet(this: FastifyInstance, request: HeadRequest): string {
  const { method, url = '/' } = request
  if (method === 'HEAD' && this.allowedMethods(url).includes('HEAD')) {
    request.method = 'GET'
    request.isHead = true
  }
  return url
}

type HeadRequest = { method?: string | undefined; url?: string | undefined; isHead?: true }

export const methodAsSent = ({ method, raw }: { method: string; raw: HeadRequest }): string =>
  raw.isHead ? 'HEAD' : method

export function noSuchRoute(request: FastifyRequest): RescodeError {
  const allowed = request.server.allowedMethods(request.url)
  return allowed.length === 0 || allowed.includes(methodAsSent(request)) ? noSuchPath() : methodNotAllowed(allowed)
}
