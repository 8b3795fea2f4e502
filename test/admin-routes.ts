import type { FastifyInstance } from 'fastify'

/** Every route below /admin/v1 that the app has, as `POST /admin/v1/apps/:app_key/approve`. */
export function adminRoutes(app: FastifyInstance): string[] {
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
      return route.includes('/admin/v1') ? methods.split(', ').map((method) => `${method} ${route}`) : []
    })
}
