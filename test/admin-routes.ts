import type { FastifyInstance } from 'fastify'

/** Every route of the app below /admin/v1, written like `POST /admin/v1/apps/:app_key/approve`. */
export const adminRoutes = (app: FastifyInstance): string[] => routesOf(app, '/admin/v1')

/** Every route whose path contains `part`. */
export function routesOf(app: FastifyInstance, part: string): string[] {
  const path: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', segment = '', methods = ''] = /^([│├└─ ]*)(\S+) \(([A-Z, ]+)\)$/.exec(line) ?? []
      const depth = indent.length / 4
      path.length = depth
      path[depth] = segment
      const route = path.join('').replace(/^\/+/, '/')
      return route.includes(part) ? methods.split(', ').map((method) => `${method} ${route}`) : []
    })
}
