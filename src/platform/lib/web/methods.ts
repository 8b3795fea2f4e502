import type { FastifyInstance, FastifyRequest } from 'fastify'
import { decodedPath, pathAsSent } from './request-target.ts'
import { methodNotAllowed, noSuchPath, type RescodeError } from './rescode.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False of a GET that issues, spends or records something, or whose answer has no end: HEAD is not allowed there. */
    answersHead?: false
  }
  interface FastifyInstance {
    /** The methods that a path has a route for; none for a path that does not exist. */
    allowedMethods: (url: string) => string[]
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

interface KnownRoute {
  readonly parts: readonly string[]
  readonly methods: ReadonlySet<string>
}

const partsOf = (path: string): string[] => path.split('/').map(decodedPath)

/** As the router matches `/runs/:run_id` and `/assets/*`. */
function matches(parts: readonly string[], path: readonly string[]): boolean {
  const open = parts.at(-1) === '*'
  if (open ? path.length < parts.length : path.length !== parts.length) return false
  return parts.every(
    (part, place) => part === '*' || (part.startsWith(':') ? path[place] !== '' : part === path[place]),
  )
}

/** Lets the app know its routes; called once, before there are any. */
export function collectRoutes(app: FastifyInstance): void {
  const routes: KnownRoute[] = []
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
 * Fastify's `rewriteUrl`, which it asks before it looks for a route: HEAD becomes GET where GET is answered, so that the
 * headers are the same. Node sends no body, since it has seen the method before.
 */
export function headAsGet(this: FastifyInstance, request: HeadRequest): string {
  const { method, url = '/' } = request
  if (method === 'HEAD' && this.allowedMethods(url).includes('HEAD')) {
    request.method = 'GET'
    request.isHead = true
  }
  return url
}

interface HeadRequest {
  method?: string | undefined
  url?: string | undefined
  isHead?: true
}

export const methodAsSent = ({ method, raw }: { method: string; raw: HeadRequest }): string =>
  raw.isHead ? 'HEAD' : method

/** For a request that is not answered: its path has other methods, or nothing is there. */
export function noSuchRoute(request: FastifyRequest): RescodeError {
  const allowed = request.server.allowedMethods(request.url)
  return allowed.length === 0 || allowed.includes(methodAsSent(request)) ? noSuchPath() : methodNotAllowed(allowed)
}
